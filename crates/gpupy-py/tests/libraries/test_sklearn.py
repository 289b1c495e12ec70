"""scikit-learn: every estimator that fits NumPy's arrays fits ours; with array API dispatch, as well."""

import warnings

import numpy
import pytest
from steps import Steps, dispatched

import gpupy

step = Steps("sklearn")


def data(np):
    x = np.asarray(numpy.random.default_rng(0).random((60, 4)))
    return x, (x[:, 0] + x[:, 1] > 1).astype(int)


@step
def a_classification(np, sklearn):
    from sklearn.linear_model import LogisticRegression

    x, y = data(np)
    return LogisticRegression().fit(x, y).predict(x)


@step
def a_regression(np, sklearn):
    from sklearn.linear_model import LinearRegression

    x, _ = data(np)
    return LinearRegression().fit(x, x.sum(axis=1)).coef_.round(8)


@step
def clusters(np, sklearn):
    from sklearn.cluster import KMeans

    return KMeans(2, random_state=0, n_init=1).fit(data(np)[0]).labels_


@step
def principal_components(np, sklearn):
    from sklearn.decomposition import PCA

    return PCA(2).fit_transform(data(np)[0]).round(8)


@step
def independent_components(np, sklearn):
    from sklearn.decomposition import FastICA

    return FastICA(2, random_state=0).fit_transform(data(np)[0]).round(6)


@step
def a_pipeline(np, sklearn):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x, y = data(np)
    return make_pipeline(StandardScaler(), SVC()).fit(x, y).predict(x)


@step
def a_split(np, sklearn):
    from sklearn.model_selection import train_test_split

    return [np.asarray(part) for part in train_test_split(*data(np), random_state=0)]


@step
def a_score_of_folds(np, sklearn):
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    return cross_val_score(KNeighborsClassifier(), *data(np))


@step
def a_search_of_parameters(np, sklearn):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV

    x, _ = data(np)
    return GridSearchCV(Ridge(), {"alpha": np.array([0.1, 1.0])}).fit(x, x[:, 0] * 2).best_params_


@step
def a_forest(np, sklearn):
    from sklearn.ensemble import RandomForestClassifier

    x, y = data(np)
    return RandomForestClassifier(10, random_state=0).fit(x, y).predict_proba(x)


@step
def metrics(np, sklearn):
    from sklearn import metrics

    _, y = data(np)
    return metrics.accuracy_score(y, 1 - y), metrics.confusion_matrix(y, y), metrics.roc_auc_score(y, y)


@step
def a_mean_squared_error(np, sklearn):
    from sklearn.metrics import mean_squared_error, r2_score

    x, _ = data(np)
    return mean_squared_error(x[:, 0], x[:, 1]), r2_score(x[:, 0], x[:, 1])


@step
def encoded_categories(np, sklearn):
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(sparse_output=False).fit_transform(np.array([[1], [2], [1]]))


@step
def scaled_in_place(np, sklearn):
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(copy=False).fit_transform(data(np)[0])


@step
def weights_of_samples(np, sklearn):
    from sklearn.linear_model import Ridge

    x, _ = data(np)
    return Ridge().fit(x, x[:, 0], sample_weight=np.linspace(0, 1, 60)).coef_.round(8)


@step
def a_transformed_table(np, sklearn):
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import MinMaxScaler

    return ColumnTransformer([("scaled", MinMaxScaler(), [0, 1])]).fit_transform(data(np)[0])


@step
def shuffled_rows(np, sklearn):
    from sklearn.utils import shuffle

    return np.asarray(shuffle(data(np)[0], random_state=0))


test_sklearn = step.tests()

# These take seconds each, or want what no array is.
LEFT_OUT = {"ClassifierChain", "FixedThresholdClassifier", "MultiOutputClassifier", "MultiOutputRegressor"}


def estimators():
    try:
        from sklearn.utils import all_estimators
    except ImportError:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [kind for name, kind in all_estimators() if name not in LEFT_OUT]


def fitted(kind, np):
    x, y = data(np)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = kind()
        if "random_state" in made.get_params():
            made.set_params(random_state=0)
        return made.fit(x, y)


def test_every_estimator_that_fits_numpys_arrays_fits_ours():
    pytest.importorskip("sklearn")
    fit, failed = 0, []
    for kind in estimators():
        try:
            fitted(kind, numpy)
        except Exception:
            continue
        try:
            found = fitted(kind, gpupy)
        except Exception as error:
            failed.append(f"{kind.__name__}: {type(error).__name__}: {error}")
            continue
        fit += 1
        if hasattr(found, "predict"):
            x, _ = data(gpupy)
            found.predict(x)
    assert fit > 100 and not failed, "\n".join(failed)


# With dispatch, scikit-learn asks arrays for their namespace, and wants SciPy to do so too, which looks at
# its switch once: so these are in a process of their own.
DISPATCHED = """
import warnings
import gpupy, numpy, sklearn
from sklearn import decomposition, discriminant_analysis, linear_model, mixture, preprocessing

ESTIMATORS = {
    "lda": lambda: discriminant_analysis.LinearDiscriminantAnalysis(),
    "ridge": lambda: linear_model.Ridge(solver="svd"),
    "pca": lambda: decomposition.PCA(2, svd_solver="full"),
    "standard": lambda: preprocessing.StandardScaler(),
    "minmax": lambda: preprocessing.MinMaxScaler(),
    "maxabs": lambda: preprocessing.MaxAbsScaler(),
    "normalizer": lambda: preprocessing.Normalizer(),
    "mixture": lambda: mixture.GaussianMixture(2, init_params="random", random_state=0),
    "polynomial": lambda: preprocessing.PolynomialFeatures(2),
    "binarizer": lambda: preprocessing.Binarizer(threshold=0.5),
}

def result(kind, np):
    x = np.asarray(numpy.random.default_rng(0).random((60, 4)))
    y = (x[:, 0] + x[:, 1] > 1).astype(int)
    made = kind().fit(x, y)
    return numpy.asarray(made.predict(x) if hasattr(made, "predict") else made.transform(x))

warnings.simplefilter("ignore")
for name, kind in ESTIMATORS.items():
    with sklearn.config_context(array_api_dispatch=True):
        wanted = result(kind, numpy)
        try:
            found = result(kind, gpupy)
        except Exception as error:
            print(name, type(error).__name__, str(error).splitlines()[0])
            continue
    print(name, "as NumPy" if numpy.allclose(found, wanted, rtol=1e-7, atol=1e-9) else "not as NumPy")
"""
NAMES = "lda ridge pca standard minmax maxabs normalizer mixture polynomial binarizer".split()


@pytest.mark.parametrize("name", NAMES)
def test_estimators_that_ask_for_namespaces_do_as_with_numpys_arrays(name):
    pytest.importorskip("sklearn")
    assert dispatched(DISPATCHED)[name] == "as NumPy"
