import json
import math
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from opik_checkembed.functional.checkembed import (
    BASELINES,
    CheckEmbedResult,
    Outlier,
    Similarity,
    checkembed,
    frobenius_score,
    rebase,
    similarity_matrix,
)

Vectors = NDArray[np.float64]


def at_angles(*degrees: float) -> Vectors:
    """Unit vectors in the plane: the cosine of two of them is the cosine of the angle between them."""
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def tables(min_rows: int = 2, max_rows: int = 7) -> st.SearchStrategy[Vectors]:
    return hnp.arrays(
        np.float64,
        st.tuples(st.integers(min_rows, max_rows), st.integers(2, 6)),
        elements=st.floats(-100, 100).map(lambda x: round(x, 3)),
    ).filter(lambda table: bool((np.ptp(table, axis=1) > 0.01).all()))


def slow_cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / (math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b)))


def slow_reference(vectors: Vectors, baseline: float | None = None) -> tuple[float, float]:
    """CheckEmbed's score and standard deviation, one pair at a time as the formula is written."""
    rows = vectors.tolist()
    k = len(rows)
    total, values = 0.0, []
    for i in range(k):
        for j in range(k):
            if i == j:
                continue
            c = slow_cosine(rows[i], rows[j])
            if baseline is not None:
                c = max(-1.0, min(1.0, 2 * (c - baseline) / (1 - baseline) - 1))
            total += (c + 1) ** 2
            values.append(c)
    mean = sum(values) / len(values)
    std = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return math.sqrt(total / (4 * k * (k - 1))), std


class TestSimilarityMatrix:
    def test_known_angles(self) -> None:
        root = math.sqrt(3) / 2
        expected = [[1, 0.5, 0, -1], [0.5, 1, root, -0.5], [0, root, 1, 0], [-1, -0.5, 0, 1]]
        np.testing.assert_allclose(similarity_matrix(at_angles(0, 60, 90, 180)), expected, atol=1e-15)

    def test_length_of_a_row_does_not_count(self) -> None:
        np.testing.assert_allclose(
            similarity_matrix([[3e-200, 0], [5e200, 5e200]]), [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]]
        )

    def test_float32_and_integer_rows(self) -> None:
        for dtype in (np.float32, np.int64):
            matrix = similarity_matrix(np.array([[1, 0], [1, 1]], dtype=dtype))
            assert matrix.dtype == np.float64
            assert matrix[0, 1] == pytest.approx(math.sqrt(0.5), abs=1e-15)

    @given(tables())
    def test_pearson_is_numpys_correlation(self, table: Vectors) -> None:
        np.testing.assert_allclose(similarity_matrix(table, "pearson"), np.corrcoef(table), atol=1e-9)

    @given(tables())
    def test_cosine_is_the_pairwise_formula(self, table: Vectors) -> None:
        expected = [[slow_cosine(a, b) for b in table.tolist()] for a in table.tolist()]
        np.testing.assert_allclose(similarity_matrix(table), expected, atol=1e-12)

    @given(tables(min_rows=1), st.sampled_from(["cosine", "pearson"]))
    def test_symmetric_bounded_unit_diagonal(self, table: Vectors, kind: Similarity) -> None:
        matrix = similarity_matrix(table, kind)
        assert (matrix == matrix.T).all()
        assert (np.abs(matrix) <= 1).all()
        assert (matrix.diagonal() == 1).all()

    @pytest.mark.parametrize(
        ("vectors", "said"),
        [
            ([[1.0, 2.0], [0.0, 0.0]], "vector 1 is all zeros"),
            ([[math.nan, 1.0], [1.0, 1.0]], "vector 0 holds NaN or infinity"),
            ([[1.0, 1.0], [1.0, math.inf]], "vector 1 holds NaN or infinity"),
            ([1.0, 2.0], r"shape \(n, d\).*got \(2,\)"),
            ([[[1.0]]], r"got \(1, 1, 1\)"),
            ([], r"got \(0,\)"),
            ([[]], r"got \(1, 0\)"),
            ([[1.0, 2.0], [1.0]], "rows of one length"),
            ([["a", "b"]], "must be numbers"),
            ([[None, 1.0]], r"NaN|numbers"),
        ],
    )
    def test_what_cannot_be_compared_is_named(self, vectors: Any, said: str) -> None:
        with pytest.raises(ValueError, match=said):
            similarity_matrix(vectors)

    def test_constant_row_has_no_correlation(self) -> None:
        constant = [[1.0, 2.0], [0.1, 0.1]]
        assert similarity_matrix(constant).shape == (2, 2)
        with pytest.raises(ValueError, match="vector 1 has equal components"):
            similarity_matrix(constant, "pearson")

    def test_unknown_kind(self) -> None:
        with pytest.raises(ValueError, match="cosine, pearson, got 'euclid'"):
            similarity_matrix([[1.0, 2.0]], "euclid")  # type: ignore[arg-type]  # what an untyped caller can do


class TestRebase:
    def test_by_hand(self) -> None:
        # b = 0.2: 1 -> 1, 0.6 -> 2 * 0.4 / 0.8 - 1 = 0, 0.2 -> -1, below the baseline clipped to -1.
        np.testing.assert_allclose(rebase([1, 0.6, 0.4, 0.2, -0.3], 0.2), [1, 0, -0.5, -1, -1], atol=1e-15)

    def test_baseline_of_minus_one_changes_nothing(self) -> None:
        np.testing.assert_allclose(rebase([-1, -0.3, 0.7, 1], -1), [-1, -0.3, 0.7, 1], atol=1e-15)

    @pytest.mark.parametrize("baseline", BASELINES.values())
    def test_diagonal_stays_one(self, baseline: float) -> None:
        assert rebase(1.0, baseline) == 1.0
        assert rebase(baseline, baseline) == -1.0

    @pytest.mark.parametrize("baseline", [1.0, 1.5, -1.01, math.nan, math.inf])
    def test_impossible_baselines(self, baseline: float) -> None:
        with pytest.raises(ValueError, match="below 1"):
            rebase([[1.0, 0.0], [0.0, 1.0]], baseline)

    def test_published_baselines(self) -> None:
        assert sorted(BASELINES.values()) == [0.1770, 0.3189, 0.3616, 0.3656, 0.4591, 0.5348]
        with pytest.raises(TypeError):
            BASELINES["mine"] = 0.1  # type: ignore[index]  # the mapping refuses at run time too


class TestFrobeniusScore:
    @pytest.mark.parametrize(("similarity", "score"), [(1.0, 1.0), (0.0, 0.5), (-1.0, 0.0), (0.8, 0.9)])
    def test_uniform_matrices(self, similarity: float, score: float) -> None:
        for k in (2, 3, 10):
            matrix = np.full((k, k), similarity)
            np.fill_diagonal(matrix, 1.0)
            assert frobenius_score(matrix) == pytest.approx(score, abs=1e-15)

    def test_diagonal_is_not_read(self) -> None:
        assert frobenius_score([[7.0, 0.0], [0.0, math.nan]]) == 0.5

    def test_unequal_pairs_by_hand(self) -> None:
        # pairs 0.5, 0, -1 twice each: sqrt(2 (1.5^2 + 1^2 + 0) / (4 * 3 * 2)) = sqrt(6.5 / 24)
        matrix = [[1.0, 0.5, 0.0], [0.5, 1.0, -1.0], [0.0, -1.0, 1.0]]
        assert frobenius_score(matrix) == pytest.approx(math.sqrt(6.5 / 24), abs=1e-15)

    @pytest.mark.parametrize("matrix", [[[1.0]], [[1.0, 0.0]], [1.0, 0.0], [[1.0, 0.5], [0.5, 1.0], [0.1, 0.1]]])
    def test_not_a_matrix_of_answers(self, matrix: Any) -> None:
        with pytest.raises(ValueError, match=r"square|at least two"):
            frobenius_score(matrix)


class TestCheckEmbed:
    def test_three_vectors_by_hand(self) -> None:
        # output at 0 degrees, samples at 60 and 90: cosines 0.5, 0 and cos 30.
        near = math.sqrt(3) / 2
        result = checkembed(at_angles(60, 90), output=at_angles(0)[0])
        assert result.labels == ("output", "sample 1", "sample 2")
        assert result.score == pytest.approx(math.sqrt(2 * (1.5**2 + 1 + (1 + near) ** 2) / 24), abs=1e-14)
        assert result.samples_only_score == pytest.approx((1 + near) / 2, abs=1e-14)
        assert result.mean == pytest.approx((0.5 + near) / 3, abs=1e-14)
        assert result.std == pytest.approx(np.std([0.5, 0, near]), abs=1e-14)
        assert result.min == pytest.approx(0, abs=1e-14)
        np.testing.assert_allclose(result.agreement, [0.25, (0.5 + near) / 2, near / 2], atol=1e-14)
        assert result.outlier == Outlier(0, "output")
        assert result.output_agreement == pytest.approx(0.25, abs=1e-14)
        assert result.reference_similarity is None
        assert result.samples_reference_similarity is None

    @pytest.mark.parametrize(
        ("angles", "score", "mean", "std"),
        [((20, 20, 20), 1, 1, 0), ((0, 90), 0.5, 0, 0), ((0, 180), 0, -1, 0), ((0, 120, 240), 0.25, -0.5, 0)],
    )
    def test_landmarks(self, angles: tuple[float, ...], score: float, mean: float, std: float) -> None:
        result = checkembed(at_angles(*angles))
        assert result.score == pytest.approx(score, abs=1e-7)
        assert result.samples_only_score == result.score
        assert result.mean == pytest.approx(mean, abs=1e-12)
        assert result.std == pytest.approx(std, abs=1e-12)
        assert result.outlier is None
        assert result.output_agreement is None

    def test_reference_is_last_and_takes_no_part_in_agreement(self) -> None:
        samples, output = at_angles(60, 90), at_angles(0)[0]
        without = checkembed(samples, output=output)
        result = checkembed(samples, output=output, reference=at_angles(180)[0])
        assert result.labels == ("output", "sample 1", "sample 2", "reference")
        assert result.matrix.shape == (4, 4)
        np.testing.assert_allclose(result.matrix[-1], [-1, -0.5, 0, 1], atol=1e-14)
        for name in ("score", "samples_only_score", "mean", "std", "min", "outlier", "output_agreement"):
            assert getattr(result, name) == getattr(without, name), name
        assert result.agreement.tolist() == without.agreement.tolist()
        assert result.reference_similarity == pytest.approx(0, abs=1e-14)
        # samples to reference: cos 120 and cos 90, mean -0.25, mapped to 0.375
        assert result.samples_reference_similarity == pytest.approx(0.375, abs=1e-14)

    def test_reference_without_output(self) -> None:
        result = checkembed(at_angles(0, 60), reference=at_angles(0)[0])
        assert result.reference_similarity is None
        assert result.samples_reference_similarity == pytest.approx(0.875, abs=1e-14)
        assert result.samples_only_score == result.score

    def test_one_sample_beside_the_output(self) -> None:
        result = checkembed(at_angles(60), output=at_angles(0)[0])
        assert result.score == pytest.approx(0.75, abs=1e-14)
        assert result.samples_only_score is None
        assert result.outlier is None

    def test_outlier_among_the_samples(self) -> None:
        assert checkembed(at_angles(1, 80, 2, 3), output=at_angles(0)[0]).outlier == Outlier(2, "sample 2")
        assert checkembed(at_angles(80, 1, 2)).outlier == Outlier(0, "sample 1")

    def test_baseline_rebases_every_number(self) -> None:
        # cosines 0.5 against baseline 0.5 become -1: total disagreement.
        result = checkembed(at_angles(60), output=at_angles(0)[0], reference=at_angles(0)[0], baseline=0.5)
        assert result.baseline == 0.5
        assert result.score == pytest.approx(0, abs=1e-7)
        assert result.mean == pytest.approx(-1)
        assert result.reference_similarity == pytest.approx(1)
        assert result.samples_reference_similarity == pytest.approx(0, abs=1e-12)

    def test_pearson_takes_the_mean_off(self) -> None:
        samples = np.array([[1.0, 2.0, 3.0], [11.0, 12.0, 13.5]])
        result = checkembed(samples, similarity="pearson")
        assert result.similarity == "pearson"
        assert result.mean == pytest.approx(np.corrcoef(samples)[0, 1], abs=1e-12)

    @given(tables(), st.none() | st.sampled_from(list(BASELINES.values())))
    def test_parity_with_the_formula_pair_by_pair(self, table: Vectors, baseline: float | None) -> None:
        result = checkembed(table, baseline=baseline)
        score, std = slow_reference(table, baseline)
        assert result.samples_only_score == pytest.approx(score, abs=1e-12)
        assert result.std == pytest.approx(std, abs=1e-12)
        with_output = checkembed(table[1:], output=table[0], baseline=baseline)
        assert with_output.score == pytest.approx(score, abs=1e-12)

    @given(tables(min_rows=3), st.randoms(use_true_random=False), st.sampled_from(["cosine", "pearson"]))
    def test_order_of_samples_does_not_matter(self, table: Vectors, random: Any, kind: Similarity) -> None:
        order = list(range(1, len(table)))
        random.shuffle(order)
        one = checkembed(table[1:], output=table[0], similarity=kind)
        two = checkembed(table[order], output=table[0], similarity=kind)
        for name in ("score", "samples_only_score", "mean", "std", "min", "output_agreement"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-12)
        np.testing.assert_allclose(one.agreement[[0, *order]], two.agreement, atol=1e-12)

    @given(tables(), st.sampled_from(["cosine", "pearson"]), st.none() | st.floats(-1, 0.99))
    def test_ranges(self, table: Vectors, kind: Similarity, baseline: float | None) -> None:
        result = checkembed(table[1:], output=table[0], reference=table[-1], similarity=kind, baseline=baseline)
        assert 0 <= result.score <= 1
        assert -1 <= result.min <= result.mean + 1e-12 <= 1 + 2e-12
        assert 0 <= result.std <= 1
        assert result.reference_similarity is not None
        assert result.samples_reference_similarity is not None
        assert 0 <= result.reference_similarity <= 1
        assert 0 <= result.samples_reference_similarity <= 1
        assert result.agreement.mean() == pytest.approx(result.mean, abs=1e-12)

    @given(tables(), st.integers(0, 2**32 - 1))
    def test_rotating_all_answers_changes_nothing(self, table: Vectors, seed: int) -> None:
        square = np.random.default_rng(seed).normal(size=(table.shape[1], table.shape[1]))
        rotation, _ = np.linalg.qr(square)
        np.testing.assert_allclose(checkembed(table @ rotation).matrix, checkembed(table).matrix, atol=1e-9)

    @pytest.mark.parametrize(
        ("samples", "output", "answers"), [([[1.0, 0.0]], None, 1), ([], [1.0, 0.0], 1), ([], None, 0)]
    )
    def test_fewer_than_two_answers(self, samples: Any, output: Any, answers: int) -> None:
        with pytest.raises(ValueError, match=f"at least two answers, got {answers}"):
            checkembed(samples, output=output, reference=[1.0, 0.0])

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"samples": [[1.0, 0.0], [0.0, 0.0]]}, "sample 2 is all zeros"),
            ({"samples": [[1.0, math.nan], [0.0, 1.0]]}, "sample 1 holds NaN"),
            ({"samples": [1.0, 0.0]}, "samples must have shape"),
            ({"samples": [[1.0, 0.0], [1.0]]}, "samples must be numbers, with rows of one length"),
            ({"output": [0.0, 0.0]}, "output is all zeros"),
            ({"output": [1.0, 0.0, 0.0]}, r"output must have shape \(2,\)"),
            ({"output": [[1.0, 0.0]]}, r"output must have shape \(2,\)"),
            ({"reference": [math.inf, 0.0]}, "reference holds NaN or infinity"),
            ({"reference": "text"}, "reference must be numbers"),
            ({"baseline": 1.0}, "baseline must be"),
        ],
    )
    def test_the_answer_at_fault_is_named(self, change: dict[str, Any], said: str) -> None:
        arguments: dict[str, Any] = {
            "samples": [[1.0, 0.0], [0.0, 1.0]],
            "output": [1.0, 0.0],
            "reference": [1.0, 1.0],
        }
        with pytest.raises(ValueError, match=said):
            checkembed(**(arguments | change))


class TestResult:
    def test_confident_is_strict_on_both_sides(self) -> None:
        result = CheckEmbedResult(np.array([[1.0, 0.95], [0.95, 1.0]]), ("output", "sample 1"))
        assert result.confident()
        assert not result.confident(mean=0.95)
        assert not result.confident(std=0.0)
        assert not CheckEmbedResult(np.array([[1.0, 0.9], [0.9, 1.0]]), ("output", "sample 1")).confident()

    def test_high_mean_with_wide_spread_is_not_confident(self) -> None:
        matrix = np.array([[1.0, 1.0, 0.86], [1.0, 1.0, 0.86], [0.86, 0.86, 1.0]])
        result = CheckEmbedResult(matrix, ("output", "sample 1", "sample 2"))
        assert result.mean > 0.9
        assert not result.confident()
        assert result.confident(std=0.07)

    def test_survives_json(self) -> None:
        result = checkembed(at_angles(60, 90, 85), output=at_angles(0)[0], reference=at_angles(50)[0], baseline=0.1)
        data = json.loads(json.dumps(result.to_dict()))
        assert CheckEmbedResult.from_dict(data).to_dict() == result.to_dict() == data

    def test_dict_names_every_number(self) -> None:
        result = checkembed([[1.0, 0.0], [0.0, 1.0]])
        assert result.to_dict() == {
            "score": 0.5,
            "samples_only_score": 0.5,
            "mean": 0.0,
            "std": 0.0,
            "min": 0.0,
            "agreement": [0.0, 0.0],
            "output_agreement": None,
            "outlier": None,
            "reference_similarity": None,
            "samples_reference_similarity": None,
            "labels": ["sample 1", "sample 2"],
            "matrix": [[1.0, 0.0], [0.0, 1.0]],
            "similarity": "cosine",
            "baseline": None,
        }

    def test_derived_numbers_come_from_the_matrix(self) -> None:
        data = checkembed([[1.0, 0.0], [0.0, 1.0]]).to_dict() | {"score": 0.99}
        assert CheckEmbedResult.from_dict(data).score == 0.5

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            ({"labels": ["output"]}, ValueError),
            ({"labels": ["output", "reference"]}, ValueError),
            ({"matrix": [[1.0, 0.0]]}, ValueError),
            ({"matrix": [[1.0]], "labels": ["output"]}, ValueError),
        ],
    )
    def test_inconsistent_dicts(self, change: dict[str, Any], error: type[Exception]) -> None:
        with pytest.raises(error):
            CheckEmbedResult.from_dict(checkembed([[1.0, 0.0], [0.0, 1.0]]).to_dict() | change)

    def test_missing_field(self) -> None:
        data = checkembed([[1.0, 0.0], [0.0, 1.0]]).to_dict()
        del data["similarity"]
        with pytest.raises(KeyError):
            CheckEmbedResult.from_dict(data)

    def test_arrays_cannot_be_written_and_share_nothing(self) -> None:
        samples = np.array([[1.0, 0.0], [0.0, 1.0]])
        matrix = np.array([[1.0, 0.2], [0.2, 1.0]])
        result = CheckEmbedResult(matrix, ("sample 1", "sample 2"))
        matrix[0, 1] = 0.9
        assert result.mean == 0.2
        checkembed(samples)
        assert samples.tolist() == [[1.0, 0.0], [0.0, 1.0]]
        for array in (result.matrix, result.agreement):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_heatmap_is_a_png(self) -> None:
        picture = checkembed([[1.0, 0.0], [0.0, 1.0]]).heatmap("two answers")
        assert picture.png.startswith(b"\x89PNG\r\n\x1a\n")


def test_importing_loads_no_plotting_or_splitting() -> None:
    code = (
        "import sys, opik_checkembed.functional.checkembed, opik_checkembed.functional.refusal;"
        "print(sorted({'matplotlib', 'sentencex', 'torch', 'litellm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
