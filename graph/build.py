"""The graph: intake, negotiator, selector, approval, data_mover, dispatcher, monitor, data_mover, collector."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from graph.approval import approval
from graph.canceller import canceller
from graph.collector import collector
from graph.data_mover import data_mover
from graph.deps import Deps
from graph.dispatcher import dispatcher
from graph.intake import intake
from graph.monitor import monitor
from graph.negotiator import negotiator
from graph.node import END_NODE, Node, node
from graph.selector import selector
from graph.state import GraphInput, GraphOutput, GraphState

__all__ = ["EDGES", "build"]

EDGES: dict[str, tuple[Node, tuple[str, ...], bool]] = {
    "intake": (intake, ("intake", "negotiator", "data_mover", "dispatcher", "monitor"), True),
    "negotiator": (negotiator, ("selector",), True),
    "selector": (selector, ("approval", "negotiator"), True),
    "approval": (approval, ("approval", "negotiator", "data_mover"), True),
    "data_mover": (data_mover, ("data_mover", "dispatcher", "collector", "negotiator", "selector"), True),
    "dispatcher": (dispatcher, ("dispatcher", "monitor", "selector", "negotiator"), True),
    "monitor": (monitor, ("monitor", "data_mover", "selector", "canceller"), False),
    "canceller": (canceller, ("canceller", "monitor"), False),
    "collector": (collector, (), False),
}
"""Each node, where it may send the thread besides the end, and whether a cancel sends it to the canceller."""


def build(
    deps: Deps,
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    store: BaseStore | None = None,
) -> CompiledStateGraph[GraphState, None, GraphInput, GraphOutput]:
    """The compiled graph over its dependencies. Run it with `durability="sync"`.

    `checkpointer` None is for LangGraph's own servers, which bring theirs.
    """
    graph = StateGraph(GraphState, input_schema=GraphInput, output_schema=GraphOutput)
    for name, (run, targets, cancellable) in EDGES.items():
        graph.add_node(
            name,
            node(name, deps, run, cancellable=cancellable),
            destinations=(*targets, *(("canceller",) if cancellable else ()), END_NODE),
        )
    graph.add_edge(START, "intake")
    return graph.compile(checkpointer=checkpointer, store=store, name="dragoman")
