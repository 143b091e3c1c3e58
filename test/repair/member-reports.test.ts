/** The reports of all members: one that is silent, of another version, or too large affects only its own entry. */
import t from 'tap'
import { HISTORY_REPORT } from '../../cluster/base/report-port.ts'
import { MemberReports } from '../../cluster/member-reports.ts'
import {
  type CallHandler,
  PeerRefusedError,
  PeerUnreachableError,
  type Transport,
} from '../../cluster/transport/transport.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const members = ['n1', 'n2', 'n3', 'n4', 'n5']
const EMPTY = { async *[Symbol.asyncIterator]() {} }
const HANGING = {
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    await new Promise(() => undefined)
    yield new Uint8Array()
  },
}

t.test('reports', async (t) => {
  const handlers = new Map<string, CallHandler>()
  const clock = new VirtualClock()
  let older: string | null = null
  const of = (nodeId: string): Pick<Transport, 'call' | 'handle'> => ({
    handle: (_, handler) => void handlers.set(nodeId, handler),
    call: async (to, _, { header }) => {
      if (to === 'n4') return { header: null, body: HANGING }
      if (to === older) throw new PeerRefusedError('unknown_method', 'It is of an older version')
      const handler = handlers.get(to)
      if (handler === undefined) throw new PeerUnreachableError(to, 'It is silent')
      const answer = await handler({ from: nodeId, header, body: EMPTY })
      const { body } = answer
      return {
        header: answer.header,
        body: {
          async *[Symbol.asyncIterator]() {
            if (body instanceof Uint8Array) yield body
          },
        },
      }
    },
  })
  const made = (nodeId: string): MemberReports =>
    new MemberReports(HISTORY_REPORT, {
      nodeId,
      members: () => members,
      transport: of(nodeId),
      clock,
      logger: SILENT,
    })
  const [n1, n2] = [made('n1'), made('n2'), made('n5')]

  await t.test('a node that has none yet says so', async (t) => {
    const answers = await clock.resolve(n1?.all() ?? Promise.resolve([]), { limitMs: 2_000 })
    t.same(
      answers.map(({ bytes }) => bytes),
      [null, null, null, null, null],
    )
  })

  await t.test('all that answer are there, within seconds', async (t) => {
    n1?.open(() => Buffer.from('one'))
    n2?.open(() => Buffer.from('two'))
    const answers = await clock.resolve(n1?.all() ?? Promise.resolve([]), { limitMs: 2_000 })
    t.same(
      answers.map(({ nodeId, bytes }) => [nodeId, bytes === null ? null : Buffer.from(bytes).toString()]),
      [
        ['n1', 'one'],
        ['n2', 'two'],
        ['n3', null],
        ['n4', null],
        ['n5', null],
      ],
    )
    t.equal(clock.pending, 0)
  })

  await t.test('a report that is too large is none', async (t) => {
    n2?.open(() => Buffer.alloc(HISTORY_REPORT.bytesMax + 1))
    const answers = await clock.resolve(n1?.all() ?? Promise.resolve([]), { limitMs: 2_000 })
    t.equal(answers[1]?.bytes, null)
  })
  await t.test('a member that does not know the question is not called silent', async (t) => {
    older = 'n3'
    const answers = await clock.resolve(n1?.all() ?? Promise.resolve([]), { limitMs: 2_000 })
    t.same(
      answers.map(({ why }) => why),
      [null, 'unreachable', 'unsupported', 'unreachable', 'unreachable'],
    )
  })

  await t.test('a node that does not come to an end with its own costs the time limit', async (t) => {
    n1?.open(() => new Promise(() => undefined))
    const answers = await clock.resolve(n1?.all() ?? Promise.resolve([]), { limitMs: 2_000 })
    t.equal(answers[0]?.why, 'unreachable')
  })
})
