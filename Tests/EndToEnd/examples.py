#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples/monitoring and Examples/kubernetes: `promtool` takes the rules and their tests, and finds what is broken in
copies; rules and dashboard ask for series and labels that the program has; the manifests hold together, and the
configuration in them is one that the schema takes."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema
import yaml

from harness import DEADLINE, Failure, expect

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MONITORING = f"{ROOT}/Examples/monitoring"
KUBERNETES = f"{ROOT}/Examples/kubernetes"
# What each copy of the rules has in the place of a text, and what is said of it.
BROKEN = [
    ("> 3 * 3600", "> 3 *", "parse error"),
    ("expr: consent_gateway_store_ready == 0", "expr: consent_gateway_store_ready == 1", "FAILED"),
    ("severity: page }\n        annotations:\n          summary: No gateway", "severity: ticket }\n        annotations:\n"
     "          summary: No gateway", "FAILED"),
    ('outcome!~"granted|rejected"', 'outcome!~"granted"', "FAILED"),
]


def text_of(path):
    with open(path) as file:
        return file.read()


def promtool(folder, *arguments):
    done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, timeout=DEADLINE)
    return done.returncode, (done.stdout + done.stderr).decode()


def rules_hold():
    for arguments in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts.test.yaml"]):
        status, said = promtool(MONITORING, *arguments)
        expect(status == 0, "promtool", *arguments, said)
    rules = text_of(f"{MONITORING}/alerts.yaml")
    for there, instead, words in BROKEN:
        expect(there in rules, there, "is not in the rules")
        with tempfile.TemporaryDirectory(prefix="consent-gateway-test-") as folder:
            shutil.copy(f"{MONITORING}/alerts.test.yaml", folder)
            with open(f"{folder}/alerts.yaml", "w") as file:
                file.write(rules.replace(there, instead))
            status, said = promtool(folder, "test", "rules", "alerts.test.yaml")
            expect(status != 0 and words in said, f"promtool does not say {words!r} of {instead}:", said)


def known_series():
    """The program's metrics with their labels, from the page that a test of the program holds true."""
    page = text_of(f"{ROOT}/.github/METRICS.md").partition("<!-- metrics -->")[2].partition("<!-- end of metrics -->")[0]
    series = {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \|([^|]*)\|", page, flags=re.M):
        labels = set(re.findall(r"`(\w+)`", labels))
        for ending in ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]:
            series[name + ending] = labels | ({"le"} if ending == "_bucket" else set())
    return series


def asks_for_what_is_there(expression, series):
    """Every metric is the program's, and every label that is matched or grouped by is one of it."""
    names = re.findall(r"\b(?:consent_gateway|process)_\w+", expression)
    expect(names, expression, "asks for nothing")
    labels = set()
    for name in names:
        expect(name in series, name, "is no metric of the program")
        labels |= series[name]
    # Prometheus puts these two to what it scrapes.
    labels |= {"instance", "job"}
    asked = re.findall(r"(\w+)\s*[!=]~?\s*\"", expression)
    for group in re.findall(r"\bby \(([^)]*)\)", expression):
        asked += re.findall(r"\w+", group)
    for label in asked:
        expect(label in labels, expression, "asks for the label", label)


def dashboard_holds(series):
    dashboard = json.loads(text_of(f"{MONITORING}/dashboard.json"))
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for expression in expressions:
        asks_for_what_is_there(expression, series)
    with tempfile.TemporaryDirectory(prefix="consent-gateway-test-") as folder:
        rules = [{"record": f"panel:{n}", "expr": text.replace("$__rate_interval", "5m")}
                 for n, text in enumerate(expressions)]
        with open(f"{folder}/panels.yaml", "w") as file:
            yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}, file)
        status, said = promtool(folder, "check", "rules", "panels.yaml")
        expect(status == 0, "the dashboard's expressions:", said)
    shown = " ".join(expressions)
    for name in series:
        plain = re.sub(r"_(bucket|sum|count)$", "", name)
        if re.search("blocked|due|ready|lag|doubt|verdicts", plain):
            expect(plain in shown, plain, "is on no panel")
    return len(expressions)


def documents(name):
    return [document for document in yaml.safe_load_all(text_of(f"{KUBERNETES}/{name}")) if document]


def pod_of(document):
    spec = document["spec"]
    return (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"]


def manifests_hold():
    every = documents("gateway.yaml") + documents("migrate.yaml")
    named = {(document["kind"], document["metadata"]["name"]) for document in every}
    configuration = yaml.safe_load(every[0]["data"]["gateway.yaml"])
    schema = json.loads(text_of(f"{ROOT}/Config/gateway.schema.json"))
    jsonschema.Draft202012Validator(schema).validate(configuration)
    paths = re.findall(r"(?:^|[ =])(/(?:etc|var)/[\w./-]+)", every[0]["data"]["gateway.yaml"], flags=re.M)
    expect(len(paths) >= 4, "the configuration names few files:", paths)
    commands = set()
    for document in every:
        if document["kind"] not in ("Deployment", "CronJob", "Job"):
            continue
        pod = pod_of(document)
        container, = pod["containers"]
        commands.add(container["args"][0])
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        expect(set(mounts.values()) == set(volumes), document["kind"], "mounts", mounts, "of", set(volumes))
        for path in paths + [container["args"][2], container["env"][0]["value"]]:
            expect(any(path == mount or path.startswith(mount + "/") for mount in mounts), path, "is in no volume")
        claim = volumes["state"]["persistentVolumeClaim"]["claimName"]
        expect(("PersistentVolumeClaim", claim) in named, claim, "is nowhere")
        expect(pod["terminationGracePeriodSeconds"] >= 85 if document["kind"] != "Job" else True,
               document["kind"], "is killed before it has drained")
        security = container["securityContext"]
        expect(pod["securityContext"]["runAsNonRoot"] and security["readOnlyRootFilesystem"], "is root, or may write")
    expect(commands == {"serve", "job", "migrate"}, commands)
    return len(every)


def main():
    rules_hold()
    series = known_series()
    rules = yaml.safe_load(text_of(f"{MONITORING}/alerts.yaml"))["groups"][0]["rules"]
    for rule in rules:
        asks_for_what_is_there(rule["expr"], series)
    shown = dashboard_holds(series)
    print(f"  monitoring: {len(rules)} alerts, {len(BROKEN)} broken copies found out, {shown} expressions on the dashboard")
    print(f"  kubernetes: {manifests_hold()} documents")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    print("passed: examples")
