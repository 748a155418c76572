"""The script: seeded acts at the seats, told as keys of arms and places of chips."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from hw_sim.scene.conditions import Conditions
from hw_sim.scene.handling import GRIP_AHEAD, GRIP_ASIDE, Handling, Lying, S, alone, aside_of, depth_of, tip_for
from hw_sim.scene.layout import BET_DEPTH_MM, LINE_MM, XY, Layout
from hw_sim.scene.motion import Held, Rest, Thing, Track
from hw_sim.scene.paint import CHIP_HEIGHT_MM
from hw_sim.scene.people import Player, pile, sway
from hw_sim.scene.truth import Act, CardsLanded, Landing, Tag

PUSH_AHEAD = 20.5


class Script(Handling):
    """Plays acts one after another into tracks, and notes what that does to chips."""

    def __init__(self, layout: Layout, conditions: Conditions, rng: Random, seconds: float,
                 kinds: tuple[str, ...] = ()) -> None:  # fmt: skip
        super().__init__(layout, conditions, rng, seconds)
        self._kinds = kinds
        self._deal_board()
        if conditions.acts == "idle":
            self._fidget_all(0.5, seconds)
        else:
            self._play()
        for uid, (seat, value, since) in self._open.items():
            self.tags.append(Tag(seat=seat, uid=uid, value=value, from_ns=round(since * S)))
        for player in self.players:
            sway(player.body.track, rng, seconds, conditions.lean)
            self.things += [thing for stack in player.stacks for thing in stack.things]

    # -- the order of play ----------------------------------------------------------------------------

    def _play(self) -> None:
        rng = self.rng
        table: tuple[tuple[Callable[[Player, float], float], float], ...] = (
            (self.bet, 5.0), (self.push, 2.0), (self.string_bet, 4.0), (self.two_trips, 1.5), (self.cut_and_push, 1.0),
            (self.hover, 2.0), (self.splash, 1.2), (self.take_back, 1.0), (self.fold, 1.0), (self.fidget, 1.0),
        )  # fmt: skip
        if self._kinds:
            known = {act.__name__ for act, _ in table} | {"sweep", "two_at_once"}
            if wrong := [k for k in self._kinds if k not in known]:
                raise ValueError(f"no act {wrong[0]!r}; take some of {', '.join(sorted(known))}")
            table = tuple((act, weight) for act, weight in table if act.__name__ in self._kinds)
        acts, weights = [act for act, _ in table], [weight for _, weight in table]
        now = 0.6
        while now < self.seconds - 4.0:
            if self._sweep_due():
                now = self.sweep(now) + rng.uniform(0.2, 0.6)
                continue
            if not acts:
                break
            player = rng.choice(self.players)
            end = self._act(rng.choices(acts, weights)[0], player, now)
            if rng.random() < 0.12 or "two_at_once" in self._kinds:
                others = [p for p in self.players if p is not player]
                end = max(end, self._act(rng.choices(acts, weights)[0], rng.choice(others), now + rng.uniform(0, 0.5)))
            now = end + rng.uniform(0.15, 0.9)

    def _act(self, act: Callable[[Player, float], float], player: Player, now: float) -> float:
        end = act(player, max(now, player.arm.end + 0.05))
        self.acts.append(Act(kind=act.__name__, seat=player.name, from_ns=round(now * S), to_ns=round(end * S)))
        return end

    def _sweep_due(self) -> bool:
        if self._kinds and "sweep" not in self._kinds:
            return any(len(chips) >= 4 for chips in self.lying.values())
        return any(len(chips) >= 3 for chips in self.lying.values()) or sum(map(len, self.lying.values())) >= 7

    # -- acts -------------------------------------------------------------------------------------------

    def bet(self, player: Player, now: float) -> float:
        """One motion: chips are carried over the line and put down."""
        at = self.spot(player)
        if at is None:
            return self.hover(player, now)
        stack, count = self.choose(player)
        end, thing, yaw = self.fetch(player, now, stack, count)
        end = self.stroke(player, end, at, yaw)
        free = self.release(player, end, thing)
        return self.home(player, free + self.rng.uniform(0.02, 0.3))

    def push(self, player: Player, now: float) -> float:
        """One motion: a stack slides over the line before the fingers."""
        rng, arm = self.rng, player.arm
        at = self.spot(player)
        if at is None:
            return self.hover(player, now)
        stack, count = self.choose(player, 8)
        yaw = player.yaw(rng.uniform(-4, 8))
        start = player.seat.place(LINE_MM - 62, rng.uniform(-20, 20) + 0.5 * aside_of(player, at))
        end, thing, grip_yaw = self.fetch(player, now, stack, count)
        end = self.stroke(player, end, start, grip_yaw)
        down = self.lift(arm, max(end, arm.lift.end), 0.1, 6.0, 0.0)
        arm.path.hold(down)
        place = Thing.position(alone(thing.wheres[-1]), down)
        assert place is not None
        thing.put(down, Rest(place[0], place[1], 0.0, place[3]))
        back = tip_for((place[0], place[1]), yaw, PUSH_AHEAD + 3, 0.0)
        self.lift(arm, down, 0.15, 12.0, -0.3)
        end = self.go(arm, down, 0.22, back, yaw)
        self.lift(arm, end, 0.08, 7.0, -0.7)
        end += 0.1
        thing.put(end, Held(arm, PUSH_AHEAD + 3, 0.0, -60.0))
        to = tip_for(at, yaw, PUSH_AHEAD + 3, 0.0)
        end = self.go(arm, end, math.dist(to, back) / rng.uniform(260, 520), to, yaw)
        thing.put(end, Rest(at[0], at[1], 0.0, math.degrees(yaw)))
        self.landed(player.name, end, thing, at)
        return self.home(player, end + rng.uniform(0.03, 0.25))

    def string_bet(self, player: Player, now: float) -> float:
        """Two motions in one visit: drops a part, goes back 5 to 80 mm, rests 50 to 2000 ms, goes on."""
        rng, arm = self.rng, player.arm
        first, second = self._pair(player)
        if first is None or second is None:
            return self.hover(player, now)
        stack, count = self.choose(player, 4)
        end, thing, yaw = self.fetch(player, now, stack, count)
        rest = pile((stack.kind,) * rng.randint(1, 3), rng)
        rest.put(end, Held(arm, GRIP_AHEAD - 6, GRIP_ASIDE * player.side, 2.0 + CHIP_HEIGHT_MM * count))
        stack.change(end, -len(rest.chips))
        self.things.append(rest)
        end = self.stroke(player, end, first, yaw)
        free = self.release(player, end, thing, foreign=False)
        free = self.lift(arm, free, 0.05, 22.0, 0.1)
        retreat = rng.uniform(5, 80)
        x, y = arm.path.last[:2]
        ix, iy = player.seat.inwards
        free = self.go(arm, free, max(0.09, retreat / rng.uniform(150, 420)), (x - retreat * ix, y - retreat * iy), yaw)
        free += math.exp(rng.uniform(math.log(0.05), math.log(2.0)))
        grip = GRIP_AHEAD - 6
        to = tip_for(second, yaw, grip, GRIP_ASIDE * player.side)
        end = self.go(arm, free, max(0.12, math.dist(to, arm.path.last[:2]) / rng.uniform(200, 480)), to, yaw)
        free = self.release(player, end, rest, foreign=False)
        return self.home(player, free + rng.uniform(0.02, 0.3))

    def _pair(self, player: Player) -> tuple[XY | None, XY | None]:
        """Two free places, the second as far in or further, and to the side."""
        for _ in range(40):
            first = self.spot(player, 48)
            if first is None:
                return None, None
            depth = depth_of(player, first) + self.rng.uniform(0, 26)
            aside = aside_of(player, first) + self.rng.choice((-1, 1)) * self.rng.uniform(46, 60)
            second = player.seat.place(depth, aside)
            if (
                depth < LINE_MM + BET_DEPTH_MM - 30
                and abs(aside) < player.seat.width / 2 - 50
                and self.free(player.name, second, 44)
            ):
                return first, second
        return None, None

    def two_trips(self, player: Player, now: float) -> float:
        """Two motions in two visits: goes back to the stack for more."""
        end = now
        for _ in range(2):
            at = self.spot(player)
            if at is None:
                return self.hover(player, end)
            stack, count = self.choose(player, 3)
            end, thing, yaw = self.fetch(player, end, stack, count)
            end = self.stroke(player, end, at, yaw)
            end = self.release(player, end, thing) + self.rng.uniform(0.0, 0.15)
        return self.home(player, end)

    def cut_and_push(self, player: Player, now: float) -> float:
        """Sets a stack down just over the line, then pushes it on."""
        rng, arm = self.rng, player.arm
        at = self.spot(player, 50)
        if at is None or depth_of(player, at) < LINE_MM + 75:
            return self.bet(player, now)
        stack, count = self.choose(player, 6)
        near = player.seat.place(LINE_MM + 36, aside_of(player, at))
        if not self.free(player.name, near, 48):
            return self.bet(player, now)
        end, thing, yaw = self.fetch(player, now, stack, count)
        end = self.stroke(player, end, near, yaw)
        free = self.release(player, end, thing, foreign=False)
        lying = self.lying[player.name][-1]
        back = tip_for(lying.at, yaw, PUSH_AHEAD + 3, 0.0)
        self.lift(arm, free, 0.14, 10.0, -0.4)
        end = self.go(arm, free, rng.uniform(0.2, 0.35), back, yaw)
        end = max(end, self.lift(arm, max(end, arm.lift.end), 0.08, 7.0, -0.7)) + rng.uniform(0.02, 0.3)
        thing.put(end, Held(arm, PUSH_AHEAD + 3, 0.0, -60.0))
        self.removed(player.name, end, lying, "player", keep_tags=True)
        to = tip_for(at, yaw, PUSH_AHEAD + 3, 0.0)
        end = self.go(arm, end, max(0.15, math.dist(to, back) / rng.uniform(180, 350)), to, yaw)
        thing.put(end, Rest(at[0], at[1], 0.0, math.degrees(yaw)))
        self.lying[player.name].append(Lying(thing, at, lying.tags, False))
        self.landings.append(
            Landing(at_ns=round(end * S), seat=player.name, x_mm=round(at[0], 2), y_mm=round(at[1], 2),
                    count=len(thing.chips), value=thing.chips[-1].value, values=tuple(c.value for c in thing.chips))
        )  # fmt: skip
        return self.home(player, end + rng.uniform(0.03, 0.25))

    def hover(self, player: Player, now: float) -> float:
        """Over the line and back without leaving anything."""
        rng, arm = self.rng, player.arm
        yaw = player.yaw(rng.uniform(-6, 12))
        to = player.seat.place(LINE_MM + rng.uniform(20, 110), rng.uniform(-50, 50))
        took = rng.uniform(0.3, 0.6)
        self.lift(arm, now, took * 0.8, rng.uniform(18, 45), rng.uniform(0.2, 0.9))
        end = self.go(arm, now, took, to, yaw)
        return self.home(player, end + math.exp(rng.uniform(math.log(0.04), math.log(0.9))))

    def splash(self, player: Player, now: float) -> float:
        """Chips are thrown in and come to rest one by one."""
        rng, arm = self.rng, player.arm
        stack, count = self.choose(player, 4)
        end, thing, yaw = self.fetch(player, now, stack, count)
        edge = player.seat.place(
            LINE_MM + rng.choice((rng.uniform(-45, -18), rng.uniform(20, 60))), rng.uniform(-30, 30)
        )
        end = self.stroke(player, end, edge, yaw)
        start = thing.position(end - 0.03)
        assert start is not None
        thing.put(end - 0.03, None)
        self.lift(arm, max(end - 0.03, arm.lift.end), 0.12, 26.0, 0.8)
        for k, kind in enumerate(thing.chips):
            at = self.spot(player, 41)
            if at is None:
                stack.change(end, 1)
                continue
            chip = pile((kind,), rng)
            fly = Track((start[0], start[1], start[2] + k * CHIP_HEIGHT_MM, 0.0))
            begin = end - 0.03 + k * rng.uniform(0.0, 0.03)
            fly.key(begin, *fly.last)
            rest = begin + rng.uniform(0.22, 0.4)
            fly.key(rest, at[0], at[1], 0.0, rng.uniform(60, 400))
            chip.put(end - 0.03, fly)
            chip.put(rest, Rest(at[0], at[1], 0.0, fly.last[3]))
            self.things.append(chip)
            self.landed(player.name, rest, chip, at)
        return self.home(player, end + rng.uniform(0.1, 0.4))

    def take_back(self, player: Player, now: float) -> float:
        """Takes a pile back that lies in the zone."""
        rng, arm = self.rng, player.arm
        if not self.lying[player.name]:
            return self.hover(player, now)
        lying = rng.choice(self.lying[player.name])
        yaw = player.yaw(rng.uniform(-6, 10))
        to = tip_for(lying.at, yaw, GRIP_AHEAD, GRIP_ASIDE * player.side)
        took = rng.uniform(0.35, 0.6)
        self.lift(arm, now, took, 24.0, 0.4)
        end = self.go(arm, now, took, to, yaw)
        end = self.lift(arm, end, 0.12, 6.0, 0.0) + 0.03
        lying.thing.put(end, Held(arm, GRIP_AHEAD, GRIP_ASIDE * player.side, -6.0))
        self.removed(player.name, end, lying, "player")
        self.lift(arm, end, 0.2, 22.0, 0.0)
        back = player.seat.place(100, player.side * 60)
        done = self.go(arm, end, rng.uniform(0.4, 0.7), back, yaw)
        lying.thing.put(done, None)
        rng.choice(player.stacks).change(done, len(lying.thing.chips))
        return self.home(player, done + 0.1)

    def fold(self, player: Player, now: float) -> float:
        """Two cards slide over the line; the dealer takes them with the next sweep."""
        rng, arm = self.rng, player.arm
        at = self.spot(player, 72)
        if at is None:
            return self.fidget(player, now)
        cards = Thing("cards", (), faces=(("", 0), ("", 0)))
        yaw = player.yaw(rng.uniform(-6, 6))
        start = player.seat.place(LINE_MM - 80, rng.uniform(-10, 10))
        to = tip_for(start, yaw, -12.0, 0.0)
        self.lift(arm, now, 0.35, 8.0, 0.5)
        end = self.go(arm, now, 0.4, to, yaw) + 0.1
        cards.put(max(0.0, now - 2.0), Rest(start[0], start[1], 0.0, math.degrees(yaw)))
        cards.put(end, Held(arm, -12.0, 0.0, -60.0))
        self.things.append(cards)
        goal = tip_for(at, yaw, -12.0, 0.0)
        end = self.go(arm, end, math.dist(goal, to) / rng.uniform(350, 700), goal, yaw)
        cards.put(end, Rest(at[0], at[1], 0.0, math.degrees(yaw)))
        self.mucked.append((cards, at, player.name, round(end * S)))
        self.lying[player.name].append(Lying(cards, at, [], False))
        return self.home(player, end + rng.uniform(0.02, 0.2))

    def fidget(self, player: Player, now: float) -> float:
        """Plays with the stacks, behind the line."""
        rng, arm = self.rng, player.arm
        end = now
        for _ in range(rng.randint(1, 4)):
            to = player.seat.place(rng.uniform(50, 128), player.side * rng.uniform(30, 95))
            took = rng.uniform(0.2, 0.6)
            self.lift(arm, end, took * 0.9, rng.uniform(8, 40), rng.uniform(0.1, 0.8))
            end = self.go(arm, end, took, to, player.yaw(rng.uniform(0, 25))) + rng.uniform(0.0, 0.5)
        return self.home(player, end)

    def _fidget_all(self, start: float, until: float) -> None:
        for player in self.players:
            now = start + self.rng.uniform(0, 8)
            while now < until - 4:
                now = self._act(self.fidget, player, now) + self.rng.uniform(6, 40)

    def sweep(self, now: float) -> float:
        """The dealer pulls all bets, and mucked cards, to the middle."""
        rng, dealer, began = self.rng, self.dealer, now
        arm, end = dealer.arm, max(now, dealer.arm.end)
        pot = (rng.uniform(210, 300) * rng.choice((-1, 1)), rng.uniform(-40, 30))
        for player in self.players:
            for lying in list(self.lying[player.name]):
                end = self._pull(player.name, lying, end, pot)
        x, y, z, yaw, pose = dealer.home
        dealer.arm.root.hold(end)
        dealer.body.track.hold(end)
        arm.root.key(end + 0.6, *dealer.shoulder)
        dealer.body.track.key(end + 0.6, 0.0, 0.0, 0.0)
        self.lift(arm, end, 0.5, z, pose)
        end = self.go(arm, end, 0.6, (x, y), yaw)
        self.acts.append(Act(kind="sweep", seat="dealer", from_ns=round(began * S), to_ns=round(end * S)))
        return end

    def _pull(self, seat: str, lying: Lying, start: float, pot: XY) -> float:
        rng, dealer, arm = self.rng, self.dealer, self.dealer.arm
        root = dealer.shoulder
        for track in (arm.root, dealer.body.track):
            track.hold(start)
        took = rng.uniform(0.45, 0.75)
        dealer.stretch(start + took, *lying.at)
        sx, sy = arm.root.last
        yaw = math.atan2(lying.at[1] - sy, lying.at[0] - sx)
        # The fingers go behind the pile, as the dealer sees it, and draw it in.
        ahead = -30.0 if lying.thing.kind == "chips" else -20.0
        to = tip_for(lying.at, yaw, ahead, 0.0)
        self.lift(arm, start, took, 38.0, 0.3)
        end = self.go(arm, start, took, to, yaw)
        end = self.lift(arm, end, 0.14, 5.0, 0.0)
        lying.thing.put(end, Held(arm, ahead, 0.0, -60.0))
        if lying.thing.kind == "chips":
            self.removed(seat, end, lying, "dealer")
        else:
            self.lying[seat].remove(lying)
            for entry in [m for m in self.mucked if m[0] is lying.thing]:
                self.mucked.remove(entry)
                self.cards.append(CardsLanded(at_ns=entry[3], seat=seat, x_mm=round(entry[1][0], 2),
                                              y_mm=round(entry[1][1], 2), gone_ns=round(end * S)))  # fmt: skip
        took = rng.uniform(0.4, 0.7)
        dealer.stretch(end + took, *pot)
        sx, sy = arm.root.last
        goal = tip_for(pot, math.atan2(pot[1] - root[1], pot[0] - sx), ahead, 0.0)
        done = self.go(arm, end, took, goal, math.atan2(pot[1] - sy, pot[0] - sx))
        lying.thing.put(done, None)
        return done + 0.05

    def _deal_board(self) -> None:
        rng = self.rng
        for k in range(rng.randint(0, 5)):
            card = Thing("cards", (), faces=((rng.choice("23456789TJQKA"), rng.randrange(4)),))
            card.put(0.0, Rest((k - 2) * 72.0 + rng.uniform(-2, 2), rng.uniform(-3, 3), 0.0, rng.uniform(-3, 3)))
            self.things.append(card)

    def unfinished_cards(self) -> list[CardsLanded]:
        """Mucked cards that nobody took."""
        return [CardsLanded(at_ns=ns, seat=seat, x_mm=round(at[0], 2), y_mm=round(at[1], 2))
                for _, at, seat, ns in self.mucked]  # fmt: skip
