"""networkx: graphs of matrices, with scalars for nodes and weights."""

from steps import Steps

step = Steps("networkx")


def matrix(np):
    return np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])


@step
def a_graph_of_a_matrix(np, nx):
    return sorted((u, v, float(d["weight"])) for u, v, d in nx.from_numpy_array(matrix(np)).edges(data=True))


@step
def a_graph_by_its_class(np, nx):
    return sorted(nx.Graph(matrix(np)).edges)


@step
def a_graph_of_pairs(np, nx):
    return sorted(tuple(map(int, edge)) for edge in nx.Graph(np.array([[0, 1], [1, 2]]).tolist()).edges)


@step
def nodes_that_are_scalars(np, nx):
    graph = nx.Graph()
    graph.add_edge(np.arange(3)[1], np.arange(3)[2])
    return graph.has_edge(1, 2)


@step
def a_layout(np, nx):
    graph = nx.path_graph(3)
    return nx.spring_layout(graph, pos={n: np.array([n, 0.5]) for n in graph}, iterations=3, seed=1)


@step
def weights_that_are_scalars(np, nx):
    graph = nx.Graph()
    lengths = np.array([1.0, 5.0, 1.0])
    graph.add_weighted_edges_from([(0, 1, lengths[0]), (0, 2, lengths[1]), (1, 2, lengths[2])])
    return nx.shortest_path(graph, 0, 2, weight="weight"), float(
        nx.shortest_path_length(graph, 0, 2, "weight")
    )


@step
def a_matrix_of_a_graph(np, nx):
    return np.asarray(nx.to_numpy_array(nx.path_graph(3))) @ np.ones(3)


@step
def ranks(np, nx):
    return nx.pagerank(nx.from_numpy_array(matrix(np)))


test_networkx = step.tests()
