"""Pictures of a poker table as an overhead camera takes them, from a 3-D scene in mm, with the truth beside them.

`world` makes a seeded `Scene`: its ``frames`` are what a product may see, its ``truth`` and ``layout`` what a judge
compares with.  `boards` and `marker_view` are the pictures from which a camera is calibrated.  Nothing of the product
is imported here: own lens, own light, own clock.
"""

from hw_sim.scene.boards import Board, BoardView, boards, marker_view
from hw_sim.scene.conditions import CONDITIONS, Conditions
from hw_sim.scene.layout import Layout
from hw_sim.scene.lens import Eye, Lens
from hw_sim.scene.scene import Scene, Shot, camera, world
from hw_sim.scene.truth import Truth

__all__ = [
    "CONDITIONS",
    "Board",
    "BoardView",
    "Conditions",
    "Eye",
    "Layout",
    "Lens",
    "Scene",
    "Shot",
    "Truth",
    "boards",
    "camera",
    "marker_view",
    "world",
]
