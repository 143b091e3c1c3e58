/**
 * The first fault of a value, found without a look at what comes behind it.
 */
import fc from 'fast-check'
import t from 'tap'
import Type from 'typebox'
import { faultPlace, validatorOf } from '../../src/api/fault-place.ts'
import { bodyCheck } from '../../src/api/validate.ts'

const Closed = { additionalProperties: false } as const
const Item = Type.Object({ id: Type.String(), count: Type.Optional(Type.Integer()) }, Closed)
const SCHEMA = Type.Object(
  {
    name: Type.String(),
    items: Type.Optional(Type.Array(Item)),
    few: Type.Optional(Type.Array(Type.String({ maxLength: 3 }), { maxItems: 2 })),
    either: Type.Optional(Type.Union([Type.Literal('a'), Type.Null()])),
    tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  Closed,
)

t.test('faultPlace', async (t) => {
  t.test('names the first fault and its place', async (t) => {
    const name = 'n'
    t.match(faultPlace(SCHEMA, { name, x: 1 }), { kind: 'unknown', name: 'x', pointer: '' })
    t.match(faultPlace(SCHEMA, { items: [1] }), { kind: 'missing', name: 'name', pointer: '' })
    t.match(faultPlace(SCHEMA, { name, items: [{ id: '' }, { count: 1 }] }), {
      kind: 'missing',
      name: 'id',
      pointer: '/items/1',
    })
    t.match(faultPlace(SCHEMA, { name, items: [{ id: '', count: 0.5 }] }), {
      kind: 'wrong',
      pointer: '/items/0/count',
      value: 0.5,
    })
    t.match(faultPlace(SCHEMA, []), { kind: 'wrong', pointer: '' })
    t.match(faultPlace(SCHEMA, { name, tags: { a: 1 } }), { kind: 'wrong', pointer: '/tags' })
  })

  t.test('finds a place wherever the schema does not hold, and one that is wrong by itself', async () => {
    const leaf = fc.oneof(fc.constantFrom('', 'abcd', 'a', null, 1, 0.5), fc.constant([]), fc.constant({}))
    const item = fc.record({ id: leaf, count: leaf, x: leaf }, { requiredKeys: [] })
    const body = fc.record(
      {
        name: leaf,
        items: fc.oneof(leaf, fc.array(fc.oneof(leaf, item), { maxLength: 4 })),
        few: fc.oneof(leaf, fc.array(leaf, { maxLength: 4 })),
        either: leaf,
        tags: fc.oneof(leaf, fc.dictionary(fc.string(), leaf, { maxKeys: 3 })),
        x: leaf,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(body, (value) => {
        if (validatorOf(SCHEMA).Check(value)) return true
        const fault = faultPlace(SCHEMA, value)
        return fault.kind !== 'wrong' || !validatorOf(fault.schema).Check(fault.value)
      }),
      { seed: 18, numRuns: 2_000 },
    )
  })

  t.test('hands on no more of an array than shows that it is too long', async (t) => {
    const fault = faultPlace(SCHEMA, { name: 'n', few: Array(1_000).fill('') })
    t.match(fault, { kind: 'wrong', pointer: '/few' })
    t.equal(fault.kind === 'wrong' && (fault.value as unknown[]).length, 3)
  })

  t.test('looks at nothing behind the first fault', async (t) => {
    let looks = 0
    const looked = Object.defineProperty({}, 'id', { enumerable: true, get: () => (looks++, 1) })
    const items = [{ id: '' }, 1, looked, looked]
    t.match(faultPlace(SCHEMA, { name: 'n', items }), { pointer: '/items/1' })
    t.throws(() => bodyCheck(SCHEMA)({ name: 'n', items }), { message: /"items\.1" must be object/ })
    t.equal(looks, 0)
  })
})

t.test('what is said of a fault', async (t) => {
  const said = (value: unknown) => {
    try {
      bodyCheck(SCHEMA)(value)
      return 'accepted'
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  const name = 'n'
  t.match(said({ name, nome: 1 }), /"nome" is unknown; did you mean "name"\?/)
  t.match(said({ name, items: [{ idd: 1 }] }), /"items\.0\.idd" is unknown; did you mean "id"\?/)
  t.match(said({ name, items: [{}] }), /"items\.0\.id" is missing/)
  t.match(said({ name, either: 'b' }), /"either" must be one of "a", "null"/)
  t.match(said({ name, few: ['', '', ''] }), /"few" must not have more than 2/)
  t.match(said({ name, few: ['abcd'] }), /"few\.0" must not have more than 3/)
  t.match(said({ name, tags: { a: 1 } }), /"tags\.a" must be string/)
  t.match(said([]), /: it must be/)
})
