"""Lookups of missing names: hasattr, pickle and libraries make them; the message is built only when it is read."""
import pickle, time, unittest
from unittest import mock

import pyquasar as q
from pyquasar import _support


class Missing(unittest.TestCase):
    def setUp(self):
        q.init("cpu")
        self.m = q.compile_string("missing", """
            type point : class
                x : scalar
            end
            function y = make()
                y = point(x:=1)
            end
            function y = caught(a, n)
                y = 0
                for k = 1..n
                    try
                        z = a.nothing
                    catch e
                        y += 1
                    end
                end
            end
            function y = uncaught(a)
                y = a.apend
            end""")

    def test_the_message_is_made_when_it_is_read(self):
        with self.assertRaises(q.QuasarNameError) as caught:
            q.zeroz
        with mock.patch.object(q._bridge, "_unknown", wraps=q._bridge._unknown) as looked:
            self.assertFalse(hasattr(q, "nosuchname") or hasattr(self.m.make(), "nosuchname"))
            self.assertEqual(looked.call_count, 0)
            self.assertRegex(str(caught.exception), "unknown name zeroz; did you mean")
            self.assertEqual(looked.call_count, 1)
        self.assertIsInstance(caught.exception, AttributeError)
        self.assertEqual(caught.exception.args, ("unknown name zeroz",))
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
        self.assertRegex(q.evaluate('(f) -> f()')(lambda: describe_of(caught.exception)), "did you mean")
        q.destroy()
        self.assertEqual(str(caught.exception), "unknown name zeroz")

    def test_scripts_see_suggestions_that_nobody_looks_for_before(self):
        real, n = _support.suggestion, []

        def counted(e):
            n.append(e)
            return real(e)
        with mock.patch.object(_support, "suggestion", counted):
            self.assertEqual(self.m.caught([object()], 5), 5)
            self.assertEqual(n, [])
            with self.assertRaisesRegex(AttributeError, "apend"):
                self.m.uncaught([object()])
            self.assertEqual(n, [])

    def test_lookups_that_fail_are_quick(self):
        """None looks at all names, of which there are hundreds: that took milliseconds."""
        o = self.m.make()
        for x, name in ((q, "nosuchname"), (o, "nosuchname"), (o, "__nothing__"), (q.value([1]), "nosuchname"),
                        (self.m, "nosuchname"), (self.m.make, "nosuchname")):
            best = 1.0
            for _ in range(20):
                start = time.perf_counter()
                for _ in range(10):
                    hasattr(x, name)
                best = min(best, (time.perf_counter() - start)/10)
            self.assertLess(best, 0.0002, (x, name))


def describe_of(e):
    return _support.describe(e)


if __name__ == "__main__":
    unittest.main()
