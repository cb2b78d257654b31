"""Public tables and keys that live in servers: read whole, once, and shipped to whichever engine asks."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from engines.loading import Server
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.sources import server as limits
from sfumato.engines.registry import EngineOfTables
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.project import load
from sfumato.testing.engine_tables import recorded

SALES = pa.table({"p": [1, 1, 2, 3], "product": ["tea", "lamp", "tea", None]})
WEIGHTS = (
    "SELECT products.product, SUM(weight) AS w FROM sales JOIN products ON sales.product = products.product GROUP BY 1"
)


@pytest.fixture
def shop(server: Server) -> Server:
    """With a public table of products and a view of it, and private sales."""
    server.run(
        "CREATE TABLE products (product text, weight numeric, since date, at timestamptz, sold boolean, code uuid, "
        "parts int[])",
        "INSERT INTO products VALUES ('tea', 0.5, '2020-01-31', '2020-01-31 23:30+00', true, NULL, NULL), "
        "('lamp', 2, 'infinity', '2020-02-01 00:30+01', false, gen_random_uuid(), ARRAY[1]), "
        "('a \"quoted\", long\nname', NULL, NULL, NULL, NULL, NULL, NULL), "
        "('', 'NaN', '0001-01-01', NULL, NULL, NULL, NULL)",
        "CREATE VIEW light AS SELECT product, weight FROM products WHERE weight < 1",
        "CREATE TABLE sales (p bigint, product text)",
        "INSERT INTO sales VALUES (1, 'tea'), (1, 'lamp'), (2, 'tea'), (3, NULL)",
        "CREATE VIEW asked_for AS SELECT DISTINCT product FROM sales",
    )
    return server


def test_a_public_table_is_read_whole(shop: Server) -> None:
    """Every kind of value, as a frame of the same rows would have it; what has no kind is left out."""
    found = sf.public(shop.at("products"))
    rows = {row["product"]: row for row in found.rows.to_pylist()}
    assert set(rows) == {"tea", "lamp", 'a "quoted", long\nname', ""} and found.size == 4
    assert list(found.columns) == ["product", "weight", "since", "at", "sold", "code"]
    tea, lamp = rows["tea"], rows["lamp"]
    assert (tea["weight"], tea["since"], tea["sold"]) == (0.5, datetime.date(2020, 1, 31), True)
    assert tea["at"] == datetime.datetime(2020, 1, 31, 23, 30) and lamp["at"] == datetime.datetime(2020, 1, 31, 23, 30)
    assert lamp["since"] is None and rows[""]["weight"] is None and rows[""]["since"] == datetime.date(1, 1, 1)
    assert tea["code"] is None and len(lamp["code"]) == 36
    assert found.columns["weight"].bounds == sf.column(bounds=(0.5, 2)).bounds
    assert found.columns["product"].keys == tuple(sorted(rows))


def test_the_same_rows_in_another_order_are_the_same_table(shop: Server) -> None:
    """So that answers are found again after the server has moved its rows."""
    before = sf.public(shop.at("products")).serial
    shop.run("CREATE TABLE again AS SELECT * FROM products ORDER BY product DESC")
    assert sf.public(shop.at("again")).serial == before


def test_a_view_is_public_but_not_private(shop: Server) -> None:
    assert [row["product"] for row in sf.public(shop.at("light")).rows.to_pylist()] == ["tea"]
    with pytest.raises(InvalidArgument, match="must be a table; got a view"):
        sf.table(shop.at("light"))


def test_keys_come_from_a_server(shop: Server) -> None:
    """Sorted, each once; a type may be given; a private table is not read like this by mistake of its name."""
    assert sf.keys_from(shop.at("light"), "Product") == ("tea",)
    assert sf.keys_from(shop.at("sales"), "product") == ("lamp", "tea")
    assert sf.keys_from(shop.at("sales"), "p", type="double") == (1.0, 2.0, 3.0)
    with pytest.raises(UnknownName, match="did you mean 'product'"):
        sf.keys_from(shop.at("sales"), "prduct")
    with pytest.raises(InvalidArgument, match="keys must be readable as date"):
        sf.keys_from(shop.at("sales"), "product", type="date")
    with pytest.raises(InvalidArgument, match=r"got int4\[\]; convert it"):
        sf.keys_from(shop.at("products"), "parts")


def test_it_is_shipped_to_whichever_engine_asks(shop: Server) -> None:
    """From PostgreSQL to PostgreSQL and to DuckDB: the same integers, and those of a public frame."""
    columns = {"product": sf.column(keys=["tea", "lamp"])}
    private = [sf.table(source, unit="p", columns=columns) for source in (SALES, shop.at("sales"))]
    frame = sf.public(pa.table({"product": ["lamp", "tea"], "weight": [2.0, 0.5]}), most_matches=1)
    shop.run("CREATE VIEW plain AS SELECT product, weight FROM products WHERE product IN ('tea', 'lamp')")
    found = [
        recorded({"sales": sales, "products": products}, EngineOfTables(), WEIGHTS, "laplace")
        for sales in private
        for products in (frame, sf.public(shop.at("plain"), most_matches=1))
    ]
    assert found[0][-1][1] and all(each == found[0] for each in found)


def test_a_view_of_private_rows_is_not_public(shop: Server) -> None:
    """Also where a view reads another view, or a part of the private table."""
    shop.run("CREATE VIEW twice AS SELECT * FROM asked_for", "CREATE TABLE old () INHERITS (sales)")
    shop.run("CREATE VIEW of_old AS SELECT product FROM old")
    private = sf.table(shop.at("sales"), unit="p")
    for name in ("sales", "asked_for", "twice", "of_old"):
        with pytest.raises(InvalidArgument, match=r"a source must be public or private; .* keep it private"):
            sf.Curator({"sales": private, "listed": sf.public(shop.at(name))}, budget=1)
    assert sf.Curator({"sales": private, "products": sf.public(shop.at("products"))}, budget=1)


def test_what_is_too_large_or_fails_is_refused(shop: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the value that failed; a table without a column that can be read is said to have none."""
    shop.run("CREATE VIEW failing AS SELECT 1 / (p - 1) AS q FROM sales", "CREATE TABLE odd (parts int[])")
    with pytest.raises(InvalidArgument, match=r"the database could not read it, or ended .*; try it in psql") as caught:
        sf.public(shop.at("failing"))
    assert "zero" not in str(caught.value) and caught.value.__suppress_context__
    with pytest.raises(InvalidArgument, match="must have a column of numbers"):
        sf.public(shop.at("odd"))
    shop.run("CREATE TABLE empty (x text)")
    empty = sf.public(shop.at("empty"))
    assert empty.size == 0 and list(empty.columns) == ["x"]
    for module in (limits, __import__("sfumato.engines.postgres.table", fromlist=["x"])):
        monkeypatch.setattr(module, "MOST_PUBLIC", 3)
    with pytest.raises(InvalidArgument, match=r"must have at most 3 rows; got more; name a view"):
        sf.public(shop.at("products"))
    assert sf.public(shop.at("light")).size == 1


def test_a_project_names_public_tables_in_a_server(shop: Server, tmp_path: Path) -> None:
    (tmp_path / "sfumato.toml").write_text(
        f"""
[budget]
epsilon = 3.0
[tables.sales]
source = "{shop.at("sales")}"
unit = "p"
max_rows_per_unit = 2
[public.products]
source = "{shop.at("light")}"
most_matches = 1
"""
    )
    project = load(tmp_path)
    assert isinstance(project.public["products"], PublicTable)
    assert project.curator().ask(WEIGHTS, epsilon=1).rows[0]["product"] == "tea"


def test_spark_has_public_tables_too(spark: Any) -> None:
    """A table, a view and keys; a view of private files is known by them."""
    days = [datetime.date(2020, 1, 31)] * 3
    rows = pa.table({"product": ["tea", "lamp", None], "weight": [0.5, 2.0, 1.0], "since": days})
    spark.createDataFrame(rows).write.mode("overwrite").saveAsTable("products")
    spark.sql("CREATE OR REPLACE VIEW light AS SELECT product, weight FROM products WHERE weight < 1")
    found = sf.public("spark:products")
    assert found.size == 3 and found.columns["product"].keys == ("lamp", "tea")
    assert sf.public("spark:light").rows.to_pylist() == [{"product": "tea", "weight": 0.5}]
    assert sf.keys_from("spark:products", "product") == ("lamp", "tea")
    with pytest.raises(InvalidArgument, match="must be a table; got a view"):
        sf.table("spark:light")
    private = sf.table("spark:products")
    with pytest.raises(InvalidArgument, match=r"a source must be public or private; .* keep it private"):
        sf.Curator({"products": private, "light": sf.public("spark:light")}, budget=1)
    spark.sql("DROP VIEW light")
    spark.sql("DROP TABLE products")
