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
