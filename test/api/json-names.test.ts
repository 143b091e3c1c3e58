/**
 * JSON bodies are left at the first name that must not be there, before anything is made of them.
 */
import fc from 'fast-check'
import t from 'tap'
import Type from 'typebox'
import { firstNameFault, JSON_NAMES_MAX } from '../../src/api/json-names.ts'
import { BucketClient } from './bucket-client.ts'

const Closed = { additionalProperties: false } as const
const SCHEMA = Type.Object(
  {
    name: Type.Optional(Type.String()),
    rules: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), free: Type.Optional(Type.Object({})) }, Closed)),
    ),
  },
  Closed,
)
const faultOf = (text: string, namesMax = 100) => firstNameFault(text, { schema: SCHEMA, namesMax })

t.test('firstNameFault', async (t) => {
  t.test('stops at the first name that a closed object does not have, at its place', async (t) => {
    t.same(faultOf('{"name":1,"nome":{"name":1}'), { kind: 'unknown', name: 'nome', pointer: '' })
    t.same(faultOf('{"rules":[{"id":1},{"id":2,"x":3}]}'), {
      kind: 'unknown',
      name: 'x',
      pointer: '/rules/1',
    })
    t.same(faultOf('{"constructor":1}'), { kind: 'unknown', name: 'constructor', pointer: '' })
    t.equal(faultOf('{"rules":[{"free":{"x":{"y":[{"z":1}]}}},{"id":"}{,"}],"name":"\\"x\\":"}'), null)
  })

  t.test('stops at the name after the last that is allowed', async (t) => {
    const free = (count: number) =>
      JSON.stringify({ rules: [{ free: Object.fromEntries(Array(count).fill(0).entries()) }] })
    t.equal(faultOf(free(98)), null)
    t.same(faultOf(free(99)), { kind: 'many', what: 'names' })
    const broken = `{"rules":[{"free":{${'"a":'.repeat(200_000)}`
    t.notOk(faultOf(broken)?.kind === 'many', 'one name that is written wrongly is no many')
  })

  t.test('stops at more values than any body has', async (t) => {
    const many = { kind: 'many', what: 'values' }
    for (const value of ['1', '""', '{}', '[]']) {
      const list = (count: number): string => `[${Array<string>(count).fill(value).join(',')}]`
      t.equal(faultOf(list(10_000)), null, value)
      t.same(faultOf(list(25_000)), many, value)
    }
  })

  t.test('stops at a depth that no schema has', async (t) => {
    t.same(faultOf('['.repeat(100)), { kind: 'deep' })
    t.equal(faultOf(`${'['.repeat(64)}${']'.repeat(64)}`), null)
  })

  t.test('accepts every value that fits the schema, and ends for every text', async () => {
    const rule = fc.record({
      id: fc.string(),
      free: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    })
    const body = fc.record(
      { name: fc.string(), rules: fc.array(rule, { maxLength: 5 }) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        body,
        fc.nat(2),
        (value, indent) => faultOf(JSON.stringify(value, null, indent), 1e6) === null,
      ),
      { seed: 18 },
    )
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'a', 'u', '0') }),
        (text) => (faultOf(text), true),
      ),
      { seed: 18 },
    )
  })
})

t.test('a body with more names than its route needs is refused [errors.invalid_request]', async (t) => {
  const films = await BucketClient.start(t)
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'x']))
  const path = '/api/v1/buckets'
  const post = (body: object) => films.world.call({ method: 'POST', path, token: films.token, body })
  t.match(await post({ name: 'other', ...names(JSON_NAMES_MAX * 50) }), {
    status: 400,
    json: { message: /"k0" is unknown/ },
  })
  const batch = (count: number) =>
    films.world.call({
      method: 'POST',
      path: '/api/v1/buckets/films/objects:batchDelete',
      token: films.token,
      body: { objects: Array.from({ length: count }, (_, n) => ({ key: `k${n}`, versionId: 'null' })) },
    })
  t.equal((await batch(1000)).status, 200, 'as many as a batch may have')
  t.match(await batch(1001), { status: 400, code: 'too_many_keys' })
  t.match(await batch(6000), { status: 400, json: { message: /more names/ } })
})
