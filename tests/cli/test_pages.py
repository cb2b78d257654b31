"""Pages that people open in a browser: they show what they should, and load nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path

from browser import opened
from cli.conftest import Call


def test_a_chart_as_a_page_is_drawn_offline(call: Call, tmp_path: Path) -> None:
    """With its title, its marks, and no request but the one for itself."""
    path = tmp_path / "chart.html"
    assert call("audit", "laplace", "--samples", "2000", "--plot", str(path)).code == 0
    with opened(path) as (page, amiss):
        chart = page.wait_for_selector("svg, canvas")
        assert chart is not None and (box := chart.bounding_box()) is not None and box["width"] > 200
        assert "Audit of Laplace" in page.content()
        assert amiss == []
