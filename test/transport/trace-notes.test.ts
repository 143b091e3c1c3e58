/**
 * The call that names the entry of a traced change: who gets it, what a wrong note does, and that nothing is sent without a trace.
 */
import t from 'tap'
import { isTraceparent, type TracedPiece } from '../../cluster/base/peer-traces.ts'
import { readTraceOf, readTracesOf } from '../../cluster/blobs/base/blob-calls.ts'
import { TRACE_METHOD, TraceNotes } from '../../cluster/trace-notes.ts'
import type { CallHandler, CallRequest } from '../../cluster/transport/transport.ts'
import { SILENT } from '../helpers/loggers.ts'

const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

async function* nothing(): AsyncGenerator<Uint8Array> {}

function notesOf(knows: number | null) {
  const handlers = new Map<string, CallHandler>()
  const sent: { readonly to: string; readonly header: unknown }[] = []
  const noted: (readonly [string, TracedPiece])[] = []
  const due: (() => void)[] = []
  const piece = { name: 'apply', startAgoMs: 2, endAgoMs: 1, attributes: {} }
  let isWhole = false
  const notes = new TraceNotes({
    nodeId: 'n1',
    members: () => ['n1', 'n2', 'n3'],
    transport: {
      handle: (method: string, handler: CallHandler) => void handlers.set(method, handler),
      call: async (to: string, _: string, { header }: CallRequest) => {
        sent.push({ to, header })
        return { header: null, body: nothing() }
      },
    },
    clock: {
      now: () => 0,
      wallTime: () => 0,
      after: (_, callback) => {
        due.push(callback)
        return { cancel: () => undefined }
      },
    },
    logger: SILENT,
    traces: {
      present: () => null,
      within: (_, __, work) => work(),
      note: (...of) => void noted.push(of),
    },
    entryTimes: async () => (knows === null ? null : { index: knows, isWhole, pieces: [piece] }),
  })
  const receive = async (header: unknown): Promise<unknown> =>
    handlers.get(TRACE_METHOD)?.({ from: 'n2', header, body: nothing() })
  const pass = async (): Promise<void> => {
    for (const callback of due.splice(0)) callback()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { notes, sent, noted, receive, pass, due, settle: () => (isWhole = true) }
}

t.test('every member gets the entry of a change, and reports it once it is applied', async (t) => {
  const world = notesOf(7)
  await world.notes.onReply(TRACE)
  t.same(world.sent, [
    { to: 'n2', header: { trace: TRACE, index: 7 } },
    { to: 'n3', header: { trace: TRACE, index: 7 } },
  ])
  await world.pass()
  t.same(world.noted, [], 'not applied here yet')
  world.settle()
  await world.pass()
  t.match(world.noted, [[TRACE, { name: 'apply' }]])
  t.same(world.due, [], 'once')
})

t.test('a change whose entry is not known is not passed on', async (t) => {
  const world = notesOf(null)
  await world.notes.onReply(TRACE)
  t.same([world.sent, world.due], [[], []])
})

t.test('a note of another machine that is malformed is refused, and notes are bounded', async (t) => {
  const world = notesOf(7)
  for (const header of [null, 7, {}, { trace: TRACE }, { trace: 'x', index: 7 }, { trace: TRACE, index: -1 }])
    await t.rejects(world.receive(header), { code: 'trace_invalid' }, JSON.stringify(header))
  for (let n = 0; n < 1000; n++) await world.receive({ trace: TRACE, index: 7 })
  t.equal(world.due.length, 256)
  world.notes.stop()
})

t.test('a trace in a call for a copy that is malformed counts as absent', async (t) => {
  t.equal(readTraceOf({ trace: TRACE }), TRACE)
  for (const header of [{}, { trace: 7 }, { trace: `${TRACE}\r\n` }]) t.equal(readTraceOf(header), null)
  t.same([...readTracesOf({ traces: [[1, TRACE], ['x', TRACE], [0, 'x'], 7] }, 4)], [[1, TRACE]])
  for (const traces of [
    undefined,
    'x',
    [
      [0, TRACE],
      [1, TRACE],
    ],
  ])
    t.equal(readTracesOf({ traces }, 1).size, 0)
  t.notOk(isTraceparent(TRACE.toUpperCase()))
})
