"""The REST API: the whole way from an upload to an export, wrong input, and machines that guess."""

from __future__ import annotations

import gzip
import io
import zipfile

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq
from support_studio import finished

from hushtable.datasets.patients import patients as patients_table
from hushtable.io.files import write_table

DISEASES = (b"flu", b"cold", b"HIV")
ROWS = [b"n%d,%d,1%d,%s\n" % (i, 20 + i % 7, 40 + i % 5, DISEASES[i % 3]) for i in range(60)]
CSV = b"name,age,zip,disease\n" + b"".join(ROWS)


def job_of(client, studio, answer, state="done"):
    assert answer.status_code == 202, answer.text
    over = studio.jobs.wait(answer.json()["id"], 90)
    assert over.state == state, over.error
    return over


def new_project(client, studio, content=CSV, name="people.csv"):
    project = client.post("/api/projects", json={"name": "People"}).json()["id"]
    job_of(client, studio, client.put(f"/api/projects/{project}/data?name={name}", content=content))
    return f"/api/projects/{project}"


def test_the_whole_way(client, studio):
    at = new_project(client, studio)
    shown = client.get(at).json()
    assert (
        shown["rows"] == 60 and shown["columns"] == ["name", "age", "zip", "disease"] and shown["data"] == "people.csv"
    )
    assert client.get(f"{at}/data?offset=58&limit=5").json()["rows"][-1][0] == "n59"
    assert {c["name"]: c["role"] for c in client.get(f"{at}/profile").json()["columns"]}["disease"] == "sensitive"
    assert client.patch(f"{at}/columns/name", json={"role": "identifier"}).status_code == 200
    assert (
        client.patch(f"{at}/columns/age", json={"role": "quasi", "hierarchy": {"intervals": [5, 10]}}).json()["faults"]
        == []
    )
    assert client.put(f"{at}/models", json=[{"k-anonymity": {"k": 3}}]).status_code == 200
    assert client.put(f"{at}/algorithm", json={"optimal": {}}).status_code == 200
    assert client.patch(f"{at}/settings", json={"suppression": 0.1}).json()["document"]["suppression"] == 0.1
    look = job_of(client, studio, client.post(f"{at}/columns/age/look", json={"hierarchy": {"intervals": [2, 4]}}))
    assert look.result["kind"] == "numeric" and look.result["problems"] == [] and look.result["histogram"]
    assert job_of(client, studio, client.post(f"{at}/check")).result["ok"]
    first = job_of(client, studio, client.post(f"{at}/runs")).result["run"]
    (run,) = client.get(f"{at}/runs").json()
    assert run["number"] == first and run["summary"]["satisfied"] and run["solutions"] > 1
    space = client.get(f"{at}/runs/{first}/space?fits=true").json()
    best = dict(zip(space["columns"], space["rows"][-1], strict=True))
    levels = {name.removeprefix("level of "): v for name, v in best.items() if name.startswith("level of ")}
    second = job_of(client, studio, client.post(f"{at}/runs/{first}/apply", json={"levels": levels})).result["run"]
    assert second == first + 1
    classes = client.get(f"{at}/runs/{second}/classes").json()
    assert sum(classes["sizes"]) == client.get(f"{at}/runs/{second}").json()["rows"]
    rows = client.get(f"{at}/runs/{second}/rows").json()
    assert "original" not in rows and len(rows["shades"]) == len(rows["rows"])
    assert client.get(f"{at}/runs/{second}/rows?original=true").json()["original_columns"][0] == "name"
    job_of(client, studio, client.post(f"{at}/runs/{second}/risk", json={"fraction": 0.5}))
    assert "prosecutor" in client.get(f"{at}/runs/{second}/risk").json()
    job_of(client, studio, client.post(f"{at}/runs/{second}/attack", json={"names": ["homogeneity"]}))
    assert list(client.get(f"{at}/runs/{second}/attack").json()["attacks"]) == ["homogeneity"]
    job_of(client, studio, client.post(f"{at}/runs/{second}/verify"))
    assert client.post(f"{at}/runs/{second}/report", json={"template": "nonsense"}).status_code == 422
    job_of(client, studio, client.post(f"{at}/runs/{second}/report", json={"template": "general"}))
    names = client.get(f"{at}/runs/{second}/export").json()
    assert "evidence.html" in names
    signed = client.get(f"{at}/runs/{second}/export/evidence.json")  # what 'hushtable sign' takes
    assert signed.json()["format"].startswith("hushtable-report/")
    assert {"release.csv", "policy.yaml", "release.json", "repeat.py"} <= set(names)
    answer = client.get(f"{at}/runs/{second}/export/bundle.zip")
    packed = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    released = set(names) - {"microdata.zip", "evidence.html", "evidence.json", "repeat.py"}
    assert set(packed) == {f"release/{name}" for name in released} | {"repeat.py"}
    assert answer.headers["content-length"] == str(len(answer.content))
    published = client.get(f"{at}/runs/{second}/export/release.csv")
    assert published.headers["content-disposition"].startswith("attachment") and b"n59" not in published.content
    assert client.delete(f"{at}/runs/{first}").status_code == 204
    assert client.delete(at).status_code == 204
    assert client.get(at).status_code == 404


def test_uploads_are_deleted_with_the_project(client, studio, shared_home):
    at = new_project(client, studio)
    project = at.rsplit("/", 1)[1]
    client.put(f"{at}/files/zip.csv", content=b"140;14*\n")
    assert (shared_home / "projects" / project / "data" / "people.csv").is_file()
    client.delete(at)
    assert not (shared_home / "projects" / project).exists()
    assert client.get("/api/jobs", params={"project": project}).json() == []


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("people.exe", CSV, 415),
        ("../people.csv", CSV, 422),
        ("a/b.csv", CSV, 422),
        ("people.csv", b"", 422),
        ("people.parquet", CSV, 422),
        ("people.xlsx", b"PK not a zip", 422),
        ("people.csv.gz", CSV, 422),
    ],
)
def test_what_is_not_taken(client, studio, name, content, status):
    project = studio.create("x")
    answer = client.put(f"/api/projects/{project.id}/data", params={"name": name}, content=content)
    assert answer.status_code == status and answer.json()["message"]
    assert list((project.folder / "data").iterdir()) == []


def test_a_file_that_unpacks_to_too_much(client, studio):
    content = gzip.compress(b"a\n" + b"1\n" * 2**22)
    at = f"/api/projects/{studio.create('bomb').id}"
    assert client.patch(at, json={"unpacked": 4}).json()["unpacked"] == 4
    over = job_of(client, studio, client.put(f"{at}/data?name=a.csv.gz", content=content), state="failed")
    assert over.error["code"] == "too-large" and over.error["message"] == "The file unpacks to more than 4 MiB."
    assert client.patch(at, json={"unpacked": 0}).status_code == 422
    assert client.patch(at, json={"name": "Trusted"}).json()["unpacked"] == 4
    assert client.patch(at, json={"unpacked": None}).json() == {**client.get(at).json(), "unpacked": None}
    job_of(client, studio, client.put(f"{at}/data?name=a.csv.gz", content=content))


def test_a_population_that_unpacks_to_too_much(client, studio):
    project, packed = studio.create("bomb"), io.BytesIO()
    pq.write_table(pa.table({"a": pa.nulls(70 << 20, pa.int8())}), packed)
    for name, content, status in (("a.parquet", packed.getvalue(), 413), ("b.parquet", b"PAR1 damaged", 422)):
        answer = client.put(f"/api/projects/{project.id}/files/{name}", content=content)
        assert answer.status_code == status and str(project.folder) not in answer.text
    assert list((project.folder / "files").iterdir()) == []


def test_a_file_that_cannot_be_read_fails_in_words(client, studio):
    project = studio.create("x").id
    answer = client.put(f"/api/projects/{project}/data?name=a.csv", content=b"a,b\n1,2,3\nsecret cell\n")
    over = job_of(client, studio, answer, state="failed")
    assert "secret" not in str(over.error) and over.error["hint"]
    assert client.get(f"/api/projects/{project}/data").json()["total"] == 0


def test_a_sheet_of_a_file_without_sheets(client, studio):
    project = studio.create("x").id
    answer = client.put(f"/api/projects/{project}/data?name=people.csv&sheet=A", content=CSV)
    assert job_of(client, studio, answer, "failed").error["message"] == "'people.csv' has no sheets."


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("get", "", None, 200),
        ("get", "/runs/999", None, 404),
        ("get", "/runs/0", None, 422),
        ("get", "/data?limit=100000", None, 422),
        ("patch", "/columns/age", {"role": "secret"}, 422),
        ("patch", "/columns/age", {"rolle": "quasi"}, 422),
        ("patch", "/columns/nobody", {"role": "quasi"}, 404),
        ("patch", "/columns/age", {"hierarchy": {"nonsense": 1}}, 422),
        ("patch", "/columns/age", {"hierarchy": "/etc/passwd"}, 422),
        ("put", "/models", [{"k-anonymity": {"k": 1}}], 422),
        ("put", "/models", [{"nonsense": {}}], 422),
        ("put", "/models", [{"a": {}, "b": {}}], 422),
        ("put", "/algorithm", {"mondrian": {"x": 1}}, 422),
        ("patch", "/settings", {"suppression": 2}, 422),
        ("patch", "/settings", {"suppression": None, "nonsense": 1}, 422),
        ("patch", "/settings", {"entity": "nobody"}, 422),
        ("patch", "/settings", {"population": "../../secret.csv"}, 422),
        ("put", "/policy", {"yaml": "columns: {a: {role: quasi}}"}, 422),
        ("put", "/policy", {"yaml": "\ud800"}, 422),
        ("put", "/files/..%2Fx.csv", None, 404),
        ("put", "/files/x.exe", None, 415),
        ("post", "/columns/nobody/look", None, 404),
    ],
)  # fmt: skip
def test_wrong_requests(client, patients, method, path, body, status):
    before = patients.document()
    url = f"/api/projects/{patients.id}{path}"
    if body == {"yaml": "\ud800"}:
        answer = client.request(
            method, url, content=b'{"yaml": "\\ud800"}', headers={"content-type": "application/json"}
        )
    else:
        answer = client.request(method, url, json=body)
    assert answer.status_code == status, answer.text
    assert patients.document() == before


def test_a_policy_may_not_name_files_elsewhere(client, studio, tmp_path):
    at = new_project(client, studio)
    (tmp_path / "secret.csv").write_text("a;b\n")
    text = client.get(f"{at}/policy").json()["yaml"]
    for file in (str(tmp_path / "secret.csv"), "../../studio.sqlite.csv", "files/../../x.csv"):
        for policy in (f"{text}\npopulation: {file}\n", text.replace("hierarchy: flat", f"hierarchy: {file}", 1)):
            if policy == text:
                continue
            answer = client.put(f"{at}/policy", json={"yaml": policy})
            assert answer.status_code == 422, (file, answer.text)


def test_hierarchies_come_from_files_of_the_project(client, studio):
    at = new_project(client, studio)
    rows = "".join(f"1{40 + i};14*\n" for i in range(5))
    assert client.put(f"{at}/files/zip.csv", content=rows.encode()).json() == {"file": "files/zip.csv"}
    assert client.get(f"{at}/files").json() == ["files/zip.csv"]
    answer = client.patch(f"{at}/columns/zip", json={"role": "quasi", "kind": "nominal", "hierarchy": "files/zip.csv"})
    assert answer.status_code == 200
    found = job_of(client, studio, client.post(f"{at}/columns/zip/look")).result
    assert found["problems"] == [] and found["levels"][0][1] == "14*"
    run = job_of(client, studio, client.post(f"{at}/runs")).result["run"]
    packed = client.get(f"{at}/runs/{run}/export/bundle.zip").content
    assert "files/zip.csv" in zipfile.ZipFile(io.BytesIO(packed)).namelist()


def test_data_with_runs_are_not_replaced(client, ran):
    answer = client.put(f"/api/projects/{ran.id}/data?name=a.csv", content=CSV)
    assert answer.status_code == 409


def test_parquet_and_excel(client, studio, tmp_path):
    import openpyxl

    table = patients_table(50)
    write_table(table, tmp_path / "p.parquet")
    book = openpyxl.Workbook()
    book.active.append(["age", "disease"])
    for i in range(20):
        book.active.append([20 + i, "flu"])
    book.save(tmp_path / "b.xlsx")
    for name, rows in (("p.parquet", 50), ("b.xlsx", 20)):
        at = new_project(client, studio, (tmp_path / name).read_bytes(), name)
        assert client.get(at).json()["rows"] == rows


def test_catalogues_come_from_the_registry(client):
    from hushtable import registry

    for kind in ("models", "algorithms", "hierarchies", "measures", "risks", "attacks", "templates"):
        found = client.get(f"/api/catalogue/{kind}").json()
        assert [entry["name"] for entry in found] == list(getattr(registry, kind))
    assert client.get("/api/catalogue/nonsense").status_code == 404


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=300),
    ending=st.sampled_from([".csv", ".parquet", ".xlsx", ".tsv", ".csv.gz", ".arrow"]),
    begin=st.sampled_from([b"", b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"ARROW1"]),
)
def test_no_upload_crashes_the_server(client, studio, content, ending, begin):
    project = studio.create("fuzz").id
    answer = client.put(f"/api/projects/{project}/data?name=a{ending}", content=begin + content)
    assert answer.status_code in (202, 413, 415, 422)
    if answer.status_code == 202:
        over = studio.jobs.wait(answer.json()["id"], 60)
        assert over.state in ("done", "failed")
        if over.state == "failed":
            assert over.error["code"] not in ("internal", "worker-died"), over.error
    assert client.delete(f"/api/projects/{project}").status_code == 204


def test_machines_that_guess_find_no_server_error(client, studio, ran):
    from fuzz.api import BODIES, guess
    from hushtable.studio.web.rest import api

    made = {}

    def there():
        """A project of their own, since they delete and rename it."""
        if client.get(f"/api/projects/{made.get('project')}").status_code != 200:
            made.update(project=studio.create("guessed").id, number=1, column="age", kind="models", name="x.csv")
        return made

    app = api(studio)
    seen = guess(client, app.openapi(), there, examples=2, bodies=BODIES[3::5])
    for job in studio.jobs.store.jobs(limit=2000):
        if not job.over:
            studio.jobs.store.cancel(job.id)
    asked = {name.rpartition(":")[0] for name in seen}
    assert asked == {f"{method.upper()} {path}" for path, item in app.openapi()["paths"].items() for method in item}
    assert sum(seen.values()) > 4 * len(asked)


def test_jobs_are_seen_and_cancelled(client, studio):
    project = studio.create("x")
    job = client.post(f"/api/projects/{project.id}/example", json={"rows": 1_000_000}).json()["id"]
    assert client.post(f"/api/jobs/{job}/cancel").status_code == 202
    assert studio.jobs.wait(job, 30).state == "cancelled"
    assert client.get(f"/api/jobs/{job}").json()["state"] == "cancelled"
    assert client.get("/api/jobs/nonsense").status_code == 404
    finished(studio, studio.example(project, rows=50))


def test_a_query_becomes_the_table_and_its_password_is_not_kept(client, studio, postgres, shared_home):
    import pyarrow as pa

    from hushtable.io.sql import write_sql

    write_sql(pa.table({"age": [30 + i % 5 for i in range(40)], "ill": ["flu", "cold"] * 20}), postgres, table="people")
    project = studio.create("database")
    body = {"source": postgres, "query": "SELECT age, ill FROM people WHERE age > 30"}
    job = job_of(client, studio, client.post(f"/api/projects/{project.id}/query", json=body))
    assert client.get(f"/api/projects/{project.id}").json()["rows"] == 32
    assert "sesame" not in str(job.as_dict())
    for file in shared_home.rglob("*"):
        assert not file.is_file() or b"sesame" not in file.read_bytes(), file
    wrong = {**body, "source": postgres.replace("sesame", "wrong-word")}
    over = job_of(client, studio, client.post(f"/api/projects/{project.id}/query", json=wrong), state="failed")
    assert "wrong-word" not in str(over.as_dict()) and over.error["code"] != "internal"
    assert (
        client.post(f"/api/projects/{project.id}/query", json={**body, "query": "DROP TABLE people"}).status_code == 422
    )
