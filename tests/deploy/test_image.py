"""The image: what its file says holds; ``sh tests/image docker`` builds it, and has thirty train in it."""

import json
import re
from pathlib import Path

import yaml
from streamlit import config

from explorer.instrument import drawing
from explorer.ui.server.admission.monitoring import ROUTES
from tests.browser.server import ROOT
from tests.deploy.files import command, dockerfile, instructions, is_of_a_stage, is_sent, the

FLAG = re.compile(r"--([\w.]+)=\S+")


def test_every_copied_file_exists_and_is_in_the_build_context():
    copies = [each for each in dockerfile() if each.name == "COPY" and not is_of_a_stage(each)]
    sources = [word for each in copies for word in each.words[:-1]]
    assert {"app.py", "explorer", ".streamlit", "requirements.txt"} == set(sources)
    assert all((ROOT / source).exists() and is_sent(source) for source in sources)
    assert not any(map(is_sent, (".git", ".venv", "tests", "explorer/__pycache__")))


def test_a_stage_of_its_own_brings_the_small_plotly_where_the_app_looks_for_it():
    (copy,) = (each for each in dockerfile() if each.name == "COPY" and is_of_a_stage(each))
    stage, source, target = copy.words
    assert ROOT / target == drawing.BASIC
    before = instructions()[: -len(dockerfile())]
    assert before[0].rest.endswith(f" AS {stage.removeprefix('--from=')}")
    (place,) = (each.rest for each in before if each.name == "WORKDIR")
    assert source == f"{place}/{target}"
    assert [each.words[0] for each in before if each.name == "COPY"] == ["package.json"]
    assert is_sent("package.json")
    (run,) = (each.words for each in before if each.name == "RUN")
    assert run[:3] == ["npm", "install", "--omit=dev"]
    brought = json.loads((ROOT / "package.json").read_text("utf-8"))["dependencies"]
    assert brought[Path(target).name] == drawing.find_version(), "else the plotly package's own stands in"
    assert "src=\"assets/plotly-basic-'" in (ROOT / "tests" / "image").read_text("utf-8")


def test_the_image_runs_as_an_unprivileged_user():
    user, group = map(int, the("USER").rest.split(":"))
    assert min(user, group) >= 1000
    after = [each.name for each in dockerfile()]
    assert after.index("USER") > max(number for number, name in enumerate(after) if name in ("RUN", "COPY"))


def test_torch_is_the_one_of_the_requirements():
    named = (ROOT / "requirements.txt").read_text("utf-8")
    assert f"torch=={the('ARG').rest.removeprefix('TORCH=')}\n" in named


def test_streamlit_knows_the_flags():
    service = (ROOT / "deploy" / "explorer@.service").read_text("utf-8")
    known = {option.key for option in config.get_config_options().values()}
    for line in (" ".join(command()), re.findall("^ExecStart=.*", service, re.MULTILINE)[0]):
        assert "streamlit run app.py" in line
        assert set(FLAG.findall(line)) == {"server.headless", "server.address", "server.port"} <= known


def test_the_health_check_asks_an_existing_route_on_the_exposed_port():
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)'", the("HEALTHCHECK").rest)
    assert found
    assert found[2] in {route.path for route in ROUTES}
    assert {f"--server.port={found[1]}", "--server.address=0.0.0.0"} <= set(command())
    assert the("EXPOSE").rest == found[1]


def test_the_containers_are_confined_and_reach_each_other():
    told = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    servers = {name: each for name, each in told["services"].items() if "EXPLORER_REPLICA" in str(each)}
    assert list(servers) == ["first", "second"]
    for name, each in servers.items():
        assert each["environment"]["EXPLORER_REPLICA"] == name
        assert "EXPLORER_SECRET" in each["environment"]
        assert f"server {name}:8501" in (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    for each in told["services"].values():
        assert each["read_only"] is True
        assert [place.partition(":")[0] for place in each["tmpfs"]] == ["/tmp"]
        assert each["cap_drop"] == ["ALL"]
    proxy = told["services"]["proxy"]
    trusted = {each["environment"]["FORWARDED_ALLOW_IPS"] for each in servers.values()}
    assert trusted == {proxy["networks"]["inside"]["ipv4_address"]}
    assert all((ROOT / place.split(":")[0]).exists() for place in proxy["volumes"] if "nginx.conf" in place)


def test_the_image_is_tried_as_the_containers_are_started():
    """``sh tests/image docker`` does, where there is Docker; here it is only read."""
    replica = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["x-replica"]
    flags = {
        "read-only": [replica["read_only"]], "tmpfs": replica["tmpfs"], "cap-drop": replica["cap_drop"],
        "security-opt": [option.removesuffix(":true") for option in replica["security_opt"]],
        "init": [replica["init"]], "memory": [replica["mem_limit"]],
    }  # fmt: skip
    tried = (ROOT / "tests" / "image").read_text("utf-8")
    for name, values in flags.items():
        assert all(f" --{name}{'' if value is True else f' {value}'}" in tried for value in values)
    assert f"stop --time {replica['stop_grace_period'].removesuffix('s')} " in tried
    assert "most_s=5 " in tried
    assert "class=30\n" in tried
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "image.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert "sh tests/image docker" in [step.get("run") for step in job["steps"]]
    assert job["timeout-minutes"] <= 30  # what it waits for may never come
