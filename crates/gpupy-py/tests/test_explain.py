"""Explanations and traces: their contents, and that they change nothing."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy
import pytest

import gpupy

SVG = "{http://www.w3.org/2000/svg}"


def expression():
    x = gpupy.asarray(numpy.linspace(-1, 1, 24, dtype=numpy.float32).reshape(4, 6))
    return gpupy.where(x.T > 0, gpupy.sqrt(x.T * 2 + 3), x[0, 0]).sum(axis=0)


def test_an_explanation_tells_structure_kernels_and_transfers(limited):
    e = gpupy.explain(expression())
    assert str(e) == e.text == repr(e)
    for words in ("structure: ", "schedule: ", "sqrt", "kernel 1 on ", "form ", "moved: ", "time: "):
        assert words in e.text
    told = int(re.search(r"schedule: .*\((\d+) kernel", e.text).group(1))
    assert told == len(re.findall(r"\n    \d+\. kernel ", e.text)) or told > 90
    assert gpupy.stats().launches >= told


def test_explaining_changes_no_result(limited):
    plain, explained = expression().tolist(), expression()
    gpupy.explain(explained)
    assert explained.tolist() == plain


def test_the_picture_is_xml_with_a_box_for_each_value(driver):
    e = gpupy.explain(expression())
    assert e._repr_svg_() == e.svg
    root = xml.etree.ElementTree.fromstring(e.svg)
    assert root.tag == SVG + "svg"
    words = [text.text for text in root.iter(SVG + "text")]
    assert any("sqrt" in word for word in words) and any("host data" in word for word in words)
    page = e._repr_html_()
    assert e.svg in page
    lines = e.dot.splitlines()
    nodes = [line.split()[0] for line in lines if " [label=" in line and "->" not in line]
    edges = [tuple(line.strip(" ;").split(" [")[0].split(" -> ")) for line in lines if " -> " in line]
    assert any("sqrt" in line for line in lines) and len(set(nodes)) == len(nodes) > 4
    assert edges and all(end in nodes for edge in edges for end in edge)
    # The rest of the page is text whose markup is escaped.
    assert xml.etree.ElementTree.fromstring(f"<html>{page}</html>") is not None


def test_what_has_nothing_to_evaluate_says_so(driver):
    a = gpupy.arange(5, dtype=gpupy.float32) * 2
    gpupy.evaluate(a)
    assert "evaluated already" in gpupy.explain(a).text
    assert "no elements" in gpupy.explain(gpupy.ones((0, 3), gpupy.float32)).text
    for held in (gpupy.ones(3, gpupy.longdouble) / 3, numpy.ones(3), numpy.float32(2)):
        e = gpupy.explain(held)
        assert "held by NumPy" in e.text
        xml.etree.ElementTree.fromstring(e.svg)
    with pytest.raises(TypeError, match="`str` is not an array"):
        gpupy.explain("x")


def test_a_scalar_is_explained_like_an_array(driver):
    total = (gpupy.arange(1000, dtype=gpupy.float32) * 3).max()
    e = gpupy.explain(total)
    assert "reduce" in e.text
    assert total == 2997


def run(value, placement="strict"):
    code = "import gpupy; print((gpupy.arange(6, dtype='float32') * 3 + 1).tolist())"
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "PYTHONPATH": path, "GPUPY_DRIVER": "soft", "GPUPY_TRACE": value}
    env["GPUPY_PLACEMENT"] = placement
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)


def test_the_environment_prints_each_flush():
    traced, silent, wrong = run("1"), run("0"), run("yes")
    assert traced.stdout == silent.stdout == "[1.0, 4.0, 7.0, 10.0, 13.0, 16.0]\n"
    assert silent.stderr == ""
    for words in ("flush of v", "on soft", "form map", "download float32 (6,) from soft, 24 bytes"):
        assert words in traced.stderr
    assert wrong.returncode and "GPUPY_TRACE is neither 0 nor 1" in wrong.stderr


def test_the_environment_prints_what_is_computed_at_once():
    traced = run("1", "auto")
    assert traced.stdout == "[1.0, 4.0, 7.0, 10.0, 13.0, 16.0]\n"
    assert traced.stderr.endswith("add computed at once on cpu: float32 (6,)\n")
