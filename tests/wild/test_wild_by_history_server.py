"""corpus/wild by the REST API of Spark's own History Server: a row of each kind, since it takes a second for each."""

from __future__ import annotations

from pathlib import Path

import ways
from answers import wrong
from servers import spark
from servers.shared import ON_SPARK_4, home_or_skip
from ways import FORMS, Seen, app_id, made

from wild.forms import REST

pytestmark = ON_SPARK_4
ROWS = ("dead_driver", "start_after_end", "metrics_zero", "profile", "spark_2_4")


def test_the_same_answers(tmp_path: Path) -> None:
    forms = [form for form in FORMS if form.id in ROWS]
    assert len(forms) == len(ROWS)
    for form in forms:
        ways.write(tmp_path, made(form))
    with spark.HistoryServer(home_or_skip(spark.SPARK_4), tmp_path) as server:
        server.wait_for_attempts(len(forms))
        reports = ways.read_rest(server.url, [app_id(form) for form in forms])
    faults = [f"{form.id}: {fault}" for form in forms for fault in wrong(form, REST, Seen(reports.get(app_id(form), [])))]
    assert not faults, "\n".join(faults)
