/** Values on objects of others. */
import t from 'tap'
import { Attached } from '../../src/base/attached.ts'

t.test(
  'a value belongs to one object and one kind, and is not seen by those who walk over the object',
  (t) => {
    const [names, numbers] = [new Attached<object, string>(), new Attached<object, number>()]
    const [one, other] = [{ own: 1 }, { own: 2 }]
    names.set(one, 'one')
    t.equal(names.get(one), 'one')
    t.equal(names.get(other), undefined)
    t.equal(numbers.get(one), undefined)
    numbers.set(one, 7)
    names.set(one, undefined)
    t.equal(names.get(one), undefined)
    t.equal(numbers.get(one), 7)
    t.same([Object.keys(one), JSON.stringify(one)], [['own'], '{"own":1}'])
    t.end()
  },
)
