/**
 * Server-sent events as a client reads them: however the network cuts the bytes, by the rules of WHATWG HTML 9.2.6.
 */
import fc from 'fast-check'
import t from 'tap'
import { collected } from '../helpers/async.ts'
import { eventsOf, type ServerEvent } from '../../packages/client/src/call/event-stream.ts'

/** `cuts`: offsets in the bytes. */
async function read(text: string, cuts: readonly number[] = []): Promise<readonly ServerEvent[]> {
  const bytes = new TextEncoder().encode(text)
  const offsets = [0, ...cuts.toSorted((one, other) => one - other), bytes.length]
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [at, from] of offsets.slice(0, -1).entries()) yield bytes.subarray(from, offsets[at + 1])
  }
  return collected(eventsOf(pieces()))
}

const event = (id: string, data: string, name = 'message'): ServerEvent => ({ id, event: name, data })

t.test('fields, comments and lines that are none', async (t) => {
  t.same(await read('id: 7\nevent: change\ndata: {"a":1}\n\n'), [event('7', '{"a":1}', 'change')])
  t.same(
    await read('data:one\ndata: two\ndata\n\n'),
    [event('', 'one\ntwo\n')],
    'one space belongs to the colon',
  )
  t.same(await read(': still here\n\ndata: x\nretry: 10\nother: y\n\n'), [event('', 'x')])
  t.same(await read('\uFEFFdata: x\n\n'), [event('', 'x')], 'a byte order mark is none of its text')
  t.same(await read('event: change\n\ndata: x\n\n'), [event('', 'x')], 'a name holds for one event')
})

t.test('an id holds until the next one', async (t) => {
  t.same(await read('id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n'), [
    event('1', 'a'),
    event('1', 'b'),
    event('2', 'c'),
  ])
  t.same(await read('id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n'), [event('1', 'a'), event('1', 'b')])
  t.same(await read('id: 1\ndata: a\n\nid\ndata: b\n\n'), [event('1', 'a'), event('', 'b')])
})

t.test('an event that the stream ends in the middle of is none', async (t) => {
  t.same(await read('data: a\n\ndata: b\n'), [event('', 'a')])
  t.same(await read('data: a\n\ndata: b'), [event('', 'a')])
  t.same(await read('data: a\r\r'), [event('', 'a')], 'CR at the very end ends its line')
})

t.test('one cut, at each byte of a text', async (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['id: 1', 'data: ä', 'data: b', '', 'data: c', '', ''].join(end)
    for (let cut = 0; cut <= new TextEncoder().encode(text).length; cut++)
      t.same(await read(text, [cut]), [event('1', 'ä\nb'), event('1', 'c')], `${JSON.stringify(end)}, ${cut}`)
  }
})

t.test('pieces may be cut anywhere, and lines end with CR LF, LF or CR', async (t) => {
  const word = fc.constantFrom('', 'x', 'äöü', '€', '🙂', ' two  spaces', ':', 'a: b')
  const written = fc.record({
    id: fc.nat(9).map(String),
    data: fc.array(word, { minLength: 1, maxLength: 3 }),
  })
  const end = fc.constantFrom('\n', '\r\n', '\r')
  await fc.assert(
    fc.asyncProperty(
      fc.array(written, { maxLength: 4 }),
      end,
      fc.array(fc.nat(200), { maxLength: 8 }),
      async (events, end, cuts) => {
        const lines = events.flatMap(({ id, data }) => [
          `id: ${id}`,
          ...data.map((one) => `data: ${one}`),
          '',
        ])
        const text = lines.map((line) => `${line}${end}`).join('')
        const { length } = new TextEncoder().encode(text)
        const found = await read(
          text,
          cuts.filter((cut) => cut <= length),
        )
        t.same(
          found,
          events.map(({ id, data }) => event(id, data.join('\n'))),
        )
      },
    ),
  )
})

t.test('a line or an event that never ends is refused, and held no longer', async (t) => {
  let taken = 0
  async function* endless(piece: string): AsyncGenerator<Uint8Array> {
    for (;;) {
      taken += piece.length
      yield new TextEncoder().encode(piece)
    }
  }
  for (const piece of ['x'.repeat(1000), `data: ${'x'.repeat(1000)}\n`, 'data\n']) {
    taken = 0
    const found = collected(eventsOf(endless(piece)))
    await t.rejects(found, { message: 'The stream has a longer event than any of a node' })
    t.ok(taken < 1024 * 1024, `${taken} characters`)
  }
})
