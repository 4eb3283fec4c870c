"""jsonencode and jsondecode against Python's json: every shape of lists, mixed lists, objects, texts and numbers."""
import itertools, json, random, unittest

import pyquasar as q
from optional import library

np = library("numpy")


def shaped(shape):
    """Nested lists of that shape."""
    if not shape:
        return 1.5
    return [shaped(shape[1:]) for _ in range(shape[0])]


class Json(unittest.TestCase):
    def setUp(self):
        q.init("cpu")

    def same(self, x):
        text = json.dumps(x)
        back = q.jsonencode(q.jsondecode(text))
        self.assertEqual(json.loads(back), x, back)
        self.assertEqual(json.loads(q.jsonencode(q.jsondecode(text), 2)), x)

    def test_lists_of_every_shape(self):
        for rank in range(1, 5):
            for shape in itertools.product((1, 2, 3) if rank < 4 else (1, 2), repeat=rank):
                self.same(shaped(shape))
                self.assertEqual(q.jsondecode(json.dumps(shaped(shape))).shape, shape)
        for x in ([], [[]], [[], []], [[[]]],
                  [[[], []]], [[], [1]], [[[]], []], [[1], [[2]]], [[[1]], [2]], [[1, 2], [3]],
                  [[[1, 2]], [[3, 4]]], [[10, 20]], [5], [[5]], [[[5]]]):
            self.same(x)
        deep = 1
        for _ in range(12):  # more than an array has
            deep = [deep]
            self.same(deep)
            self.same([deep, deep])

    def test_other_lists(self):
        for x in ([True], [[True, False]], [None], [[None]], [1, "a"], [[1, "a"]], [[1, 2], "a"], [["a"], [1]],
                  [{}], [[{}]],
                  [{"a": [[1, 2]]}], {"a": {}, "b": [[]], "c": [[[1], [2]]]}, {"": 1}, [2**53 + 1], [[2**53 + 1, 1]],
                  [True, 1], [[1], [True]], ["", "\x01\"\\/\n\u1234\U0001f600"], "text", 5, True, None, 2**62, -0.5,
                  [1e308, 5e-324, 0.1, 1/3], [[1, 2], [3, 4], None], [[1], None], {"x": [None, {"y": [1, [2]]}]}):
            self.same(x)
        self.assertEqual(json.loads(q.jsonencode(q.jsondecode("[1, null]"))), [1, None])

    def test_random_values(self):
        chance = random.Random(1)

        def made(depth):
            kind = chance.randrange(10 if depth else 5)
            if kind < 5:
                return chance.choice([None, True, False, chance.randrange(-9, 9), chance.random(), "a\n\u00e9",
                                      chance.randrange(2**53, 2**62)])
            if kind < 6:
                return shaped([chance.randrange(1, 3) for _ in range(chance.randrange(1, 4))])
            n = chance.randrange(4)
            if kind < 8:
                return [made(depth - 1) for _ in range(n)]
            if kind < 9:
                return [chance.random() for _ in range(n)]
            return {"k%d" % i: made(depth - 1) for i in range(n)}
        for _ in range(500):
            self.same(made(4))

    @unittest.skipUnless(np, "needs numpy")
    def test_arrays_of_python(self):
        for shape in ((3,), (1, 3), (3, 1), (1, 1), (1,), (2, 1, 2), (2, 2, 1), (0,), (1, 0), (0, 2), (2, 0)):
            a = np.arange(np.prod(shape)).reshape(shape)
            for x in (a, a.astype("f4"), a > 0):
                self.assertEqual(json.loads(q.jsonencode(x)), x.tolist(), shape)
                self.assertEqual(json.loads(q.jsonencode(q.value({"a": x}))), {"a": x.tolist()})


if __name__ == "__main__":
    unittest.main()
