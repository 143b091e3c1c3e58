/**
 * The error of a reader when the stream of a peer does not match the request.
 */
import t from 'tap'
import { BLOB_LIMITS } from '../../cluster/blobs/base/blob-limits.ts'
import { PeerBlobs } from '../../cluster/blobs/peers/peer-blobs.ts'
import { PeerHealth } from '../../cluster/blobs/peers/peer-health.ts'
import { PeerRefusedError, PeerUnreachableError, type Transport } from '../../cluster/transport/transport.ts'
import { BlobDamagedError, BlobMissingError } from '../../cluster/base/types.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { collect, sampleBlob, streamOf } from './blob-samples.ts'

/** A peer that answers every call with this body. */
function peersBehind(answer: () => AsyncIterable<Uint8Array>) {
  const clock = new VirtualClock()
  const health = new PeerHealth({ clock, coolDownMs: 500, coolDownMaxMs: 500 })
  const transport: Transport = {
    start: async () => undefined,
    send: () => undefined,
    handle: () => undefined,
    call: async () => ({ header: {}, body: answer() }),
    stop: async () => undefined,
  }
  const peers = new PeerBlobs({ transport, health, clock, limits: BLOB_LIMITS })
  const read = (start: number, end: number) => collect(peers.get('n2', sampleBlob(1), { start, end }))
  return { clock, health, read }
}

t.test('PeerBlobs.get', async (t) => {
  t.test('returns the bytes when the stream has the requested length', async (t) => {
    const { read, health } = peersBehind(() => streamOf(Uint8Array.of(1, 2), Uint8Array.of(3)))
    t.strictSame(await read(7, 10), Uint8Array.of(1, 2, 3))
    t.ok(health.isHealthy('n2'))
  })

  t.test(
    'throws PeerUnreachableError when the stream is shorter or longer, and counts that as a failure of the peer',
    async (t) => {
      for (const end of [9, 11]) {
        const { read, health } = peersBehind(() => streamOf(Uint8Array.of(1, 2), Uint8Array.of(3)))
        await t.rejects(read(7, end), PeerUnreachableError)
        t.notOk(health.isHealthy('n2'))
      }
    },
  )

  t.test('throws PeerUnreachableError when the stream stalls', async (t) => {
    const { read, clock } = peersBehind(async function* () {
      yield Uint8Array.of(1)
      await new Promise(() => undefined)
    })
    const reading = t.rejects(read(0, 2), PeerUnreachableError)
    await clock.advance(BLOB_LIMITS.stallMs)
    await reading
    t.equal(clock.pending, 0)
  })

  t.test('throws the error that the peer reported for its copy', async (t) => {
    for (const [code, type] of [
      ['blob_missing', BlobMissingError],
      ['blob_damaged', BlobDamagedError],
      ['slow_down', PeerUnreachableError],
    ] as const) {
      const { read, health } = peersBehind(() => {
        throw new PeerRefusedError(code, 'No')
      })
      await t.rejects(read(0, 1), type)
      t.ok(health.isHealthy('n2'), 'a peer that answers is healthy')
    }
  })
})

t.test(
  'the calls for a copy name its trace, and without one they are as if there were no traces',
  async (t) => {
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const headersWith = async (present: string | null, hasTracer = true) => {
      const clock = new VirtualClock()
      const headers: unknown[] = []
      const transport: Transport = {
        start: async () => undefined,
        send: () => undefined,
        handle: () => undefined,
        call: async (_, __, { header }) => {
          headers.push(header)
          return { header: { outcomes: [null] }, body: streamOf() }
        },
        stop: async () => undefined,
      }
      const traces = {
        present: () => present,
        within: <T>(_: string, __: object, work: () => Promise<T>) => work(),
        note: () => undefined,
      }
      const peers = new PeerBlobs({
        transport,
        health: new PeerHealth({ clock, coolDownMs: 500, coolDownMaxMs: 500 }),
        clock,
        limits: BLOB_LIMITS,
        ...(hasTracer ? { traces } : {}),
      })
      for (const size of [10, BLOB_LIMITS.batchedBelowBytes]) {
        const content = { size, checksum: 'c'.repeat(64), bytes: new Uint8Array(size) }
        await peers.put('n2', { ...sampleBlob(1), ...content }, new AbortController().signal)
      }
      return headers
    }
    const plain = await headersWith(null, false)
    t.same(await headersWith(null), plain, 'a request that is not traced')
    t.match(await headersWith(trace), [{ traces: [[0, trace]] }, { trace }])
    t.notMatch(JSON.stringify(plain), 'trace')
  },
)
