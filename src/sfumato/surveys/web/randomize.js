// What a respondent sends, in whole numbers: docs/concepts/what-a-respondent-sends.md, in its words and order.
// Nothing here touches the page. `below(n)` is the only randomness; everything else follows from what it gives.
const Randomize = (() => {
  // A uniform whole number in 0 .. n - 1: as many bits as n - 1 has, taken anew while they make n or more.
  function below(n) {
    const bits = n > 1n ? (n - 1n).toString(2).length : 0;
    const bytes = new Uint8Array(Math.ceil(bits / 8));
    const mask = (1n << BigInt(bits)) - 1n;
    for (;;) {
      if (bits) crypto.getRandomValues(bytes);
      let drawn = 0n;
      for (const byte of bytes) drawn = (drawn << 8n) | BigInt(byte);
      if ((drawn & mask) < n) return drawn & mask;
    }
  }

  const whole = (flag) => (flag ? 1n : 0n);
  const count = (question) => question.answers.length + (question.skip === "private" ? 1 : 0);

  // C(n, m): how many sets of m there are out of n.
  function choose(n, m) {
    if (m < 0 || m > n) return 0n;
    let sets = 1n;
    for (let i = 1; i <= m; i++) sets = (sets * BigInt(n - m + i)) / BigInt(i);
    return sets;
  }

  function parity(number) {
    let ones = 0n;
    for (; number; number >>= 1n) ones ^= number & 1n;
    return ones;
  }

  function unrank(n, m, r) {
    let mask = 0n;
    for (let a = n - 1; a >= 0; a--) {
      const without = choose(a, m);
      if (m > 0 && r >= without) {
        mask |= 1n << BigInt(a);
        r -= without;
        m -= 1;
      }
    }
    return mask;
  }

  function widen(mask, x) {
    const low = mask & ((1n << x) - 1n);
    return low | ((mask ^ low) << 1n);
  }

  // The field of q elements: polynomials over p, written as numbers in base p, modulo the one that `modulus` is.
  function field(q, modulus) {
    let p = 2;
    while (q % p) p++;
    let degree = 0;
    for (let size = 1; size < q; size *= p) degree++;
    const split = (a) => Array.from({ length: degree }, (_, i) => Math.floor(a / p ** i) % p);
    const join = (digits) => digits.reduceRight((a, digit) => a * p + digit, 0);
    const lower = degree > 1 ? split(modulus) : [];
    const plus = (a, b) => {
      const [left, right] = [split(a), split(b)];
      return join(left.map((digit, i) => (digit + right[i]) % p));
    };
    const negative = (a) => join(split(a).map((digit) => (p - digit) % p));
    const times = (a, b) => {
      const [left, right] = [split(a), split(b)];
      const powers = new Array(2 * degree - 1).fill(0);
      left.forEach((x, i) => right.forEach((y, j) => (powers[i + j] = (powers[i + j] + x * y) % p)));
      for (let high = 2 * degree - 2; high >= degree; high--)
        lower.forEach((digit, i) => {
          const at = high - degree + i;
          powers[at] = (powers[at] + powers[high] * (p - digit)) % p;
        });
      return join(powers.slice(0, degree));
    };
    const inverse = (a) => {
      let found = 1;
      for (let left = q - 2, power = a; left > 0; left = Math.floor(left / 2), power = times(power, power))
        if (left % 2) found = times(found, power);
      return found;
    };
    return { plus, negative, times, inverse };
  }

  // Points of a projective space: vectors whose first coordinate that is not 0 is 1, by their numbers in base q.
  function space({ order, dimension, modulus }) {
    const q = BigInt(order);
    const { plus, negative, times, inverse } = field(order, modulus);
    const start = (e) => (q ** BigInt(e) - 1n) / (q - 1n);
    const digits = (number, places) =>
      Array.from({ length: places }, (_, i) => Number((number / q ** BigInt(places - 1 - i)) % q));
    const vector = (n) => {
      let e = 0;
      while (start(e + 1) <= n) e++;
      return q ** BigInt(e) + n - start(e);
    };
    const complete = (x, rest, product) => {
      const answer = digits(vector(x), dimension);
      const pivot = answer.findIndex((each) => each);
      const y = [...rest.slice(0, pivot), 0, ...rest.slice(pivot)];
      const sum = answer.reduce((total, factor, i) => plus(total, times(factor, y[i])), 0);
      y[pivot] = plus(product, negative(sum));
      const first = y.findIndex((each) => each);
      const scale = inverse(y[first]);
      const number = y.reduce((total, each) => total * q + BigInt(times(scale, each)), 0n);
      const level = dimension - 1 - first;
      return number - q ** BigInt(level) + start(level);
    };
    return {
      sizes: [start(dimension - 1), q ** BigInt(dimension - 1)],
      agreeing: (x, r) => complete(x, digits(vector(r), dimension - 1), 0),
      others: (x, r) => complete(x, digits(r, dimension - 1), 1),
    };
  }

  // One of k: how many outputs agree with an answer, how many do not, and which is number r of either.
  const BLOCKS = {
    response: (_, k) => ({
      sizes: [1n, BigInt(k - 1)],
      agreeing: (x) => x,
      others: (x, r) => r + whole(r >= x),
    }),
    subset: ({ size }, k) => ({
      sizes: [choose(k - 1, size - 1), choose(k - 1, size)],
      agreeing: (x, r) => widen(unrank(k - 1, size - 1, r), x) | (1n << x),
      others: (x, r) => widen(unrank(k - 1, size, r), x),
    }),
    hadamard: ({ bits }) => ({
      sizes: [1n << BigInt(bits), 1n << BigInt(bits)],
      agreeing: (x, r) => 2n * r + parity(r & x),
      others: (x, r) => 2n * r + 1n - parity(r & x),
    }),
    projective: space,
  };

  function block(name, question, k, place, below) {
    const [H, L] = question.odds.map(BigInt);
    const { sizes, agreeing, others } = BLOCKS[name](question, k);
    const [s, o] = sizes;
    const x = BigInt(place);
    const u = below(s * H + o * L);
    return String(u < s * H ? agreeing(x, u / H) : others(x, (u - s * H) / L));
  }

  // Bit i is bit i mod 8 of byte i / 8, as hexadecimal digits.
  function inBytes(bits) {
    const bytes = new Array(Math.ceil(bits.length / 8)).fill(0);
    bits.forEach((bit, i) => (bytes[i >> 3] |= (bit ? 1 : 0) << (i & 7)));
    return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // Heads with probability exp(-n / d), for 0 <= n <= d.
  function coin(n, d, below) {
    let c = 1n;
    while (below(d * c) < n) c += 1n;
    return c % 2n === 1n;
  }

  function laplace(epsilon, steps, below) {
    const [a, b] = lowest(fraction(epsilon));
    const T = BigInt(steps) * b;
    for (;;) {
      const U = below(T);
      if (!coin(U, T, below)) continue;
      let V = 0n;
      while (coin(1n, 1n, below)) V += 1n;
      const Y = (U + T * V) / a;
      const isNegative = below(2n) === 1n;
      if (!(isNegative && Y === 0n)) return isNegative ? -Y : Y;
    }
  }

  const SEND = {
    unary(question, place, below) {
      const [H, L] = question.odds.map(BigInt);
      const bits = Array.from({ length: count(question) }, (_, i) =>
        i === place ? below(2n) === 0n : below(H + L) < L);
      return inBytes(bits);
    },
    "one-box"(question, places, below) {
      const [H, L] = question.odds.map(BigInt);
      const u = below(BigInt(question.answers.length) * (H + L));
      const j = u / (H + L);
      const tick = places.includes(Number(j)) !== u % (H + L) >= H;
      return String(2n * j + whole(tick));
    },
    "every-box"(question, places, below) {
      const [H, L] = question.odds.map(BigInt);
      return inBytes(question.answers.map((_, i) => places.includes(i) !== below(H + L) >= H));
    },
    padded(question, places, below) {
      const j = Number(below(BigInt(question.most)));
      const none = question.answers.length;
      return block(question.blocks, question, none + 1, j < places.length ? places[j] : none, below);
    },
    duchi(question, place, below) {
      const [H, L] = question.odds.map(BigInt);
      const [G, i] = [BigInt(question.steps), BigInt(place)];
      return below((H + L) * G) < L * (G - i) + H * i ? "1" : "0";
    },
    piecewise(question, place, below) {
      const [H, L] = question.odds.map(BigInt);
      const [G, w, i] = [BigInt(question.steps), BigInt(question.width), BigInt(place)];
      const u = below(w * H + G * L);
      if (u < w * H) return String(i + u / H);
      const r = (u - w * H) / L;
      return String(r < i ? r : r + w);
    },
    laplace: (question, place, below) =>
      String(BigInt(place) + laplace(question.epsilon, question.steps, below)),
  };
  for (const name of Object.keys(BLOCKS))
    SEND[name] = (question, place, below) => block(name, question, count(question), place, below);

  // What one person sends for a place (for several-of: the places ticked, in their order); null: not answered.
  const send = (question, place, below) => (place === null ? "" : SEND[question.oracle](question, place, below));

  // Which question is asked where each device asks one, in proportion to the shares.
  function drawn(questions, below) {
    let u = below(questions.reduce((sum, each) => sum + BigInt(each.share), 0n));
    return questions.find((each) => (u -= BigInt(each.share)) < 0n);
  }

  // "0.5", "-3", "1/3" as two whole numbers; null if it is no number.
  function fraction(text) {
    const found = /^([+-]?)(\d+)(?:\.(\d+)|\/(\d+))?$/.exec(text);
    if (!found) return null;
    const [, sign, before, after = "", under] = found;
    const top = BigInt(before + after) * (sign === "-" ? -1n : 1n);
    return [top, under ? BigInt(under) : 10n ** BigInt(after.length)];
  }

  function lowest([a, b]) {
    let [x, y] = [a, b];
    while (y) [x, y] = [y, x % y];
    return [a / x, b / x];
  }

  // The place of a number: floor((x - low) * steps / (high - low) + 1/2), exactly; null outside the bounds.
  function placeOf(text, { low, high, steps }) {
    const [x, from, to] = [text, low, high].map(fraction);
    if (!x) return null;
    const [n, d] = [x[0] * from[1] - from[0] * x[1], x[1] * from[1]];
    const [N, D] = [to[0] * from[1] - from[0] * to[1], to[1] * from[1]];
    if (n < 0n || n * D > N * d) return null;
    return Number((2n * n * BigInt(steps) * D + N * d) / (2n * N * d));
  }

  // The text whose SHA-256 is the hash of a design: JSON with sorted keys and no blanks.
  function canonical(value) {
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }

  async function digest(design) {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(design)));
    return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  return Object.freeze({ below, send, drawn, fraction, placeOf, canonical, digest, count });
})();
