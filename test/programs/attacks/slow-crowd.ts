/** A crowd: 1,000 uploads of 280 bytes a second at each node, and 100 honest ones of 128 kB/s in all. */
import type { Attack } from './attack.ts'
import { dripping } from './slow-bodies.ts'
import { runSlowUploads, type SlowUpload } from './slow-uploads.ts'
import { puts } from './victims.ts'

const SLOW_A_NODE = 1000
const HONEST = 100
const HONEST_BYTES = 8 * 1024 * 1024
const PIECES_A_SECOND = 8

export const slowCrowd: Attack = {
  id: 'D1b',
  title: '1,000 bodies of 280 B/s at each node, 100 of 128 kB/s',
  victim: puts(100_000),
  leadMs: 8000,
  run: async ({ nodes, evil }, signal) => {
    const headers = { authorization: `Bearer ${evil.token}` }
    const path = (n: number): string => `/api/v1/buckets/${evil.bucket}/objects/crowd/${n}`
    const slow = nodes.flatMap(({ dataUrl }, at) =>
      Array.from({ length: SLOW_A_NODE }, (_, n) => ({
        ...dripping(dataUrl, path(SLOW_A_NODE * at + n), headers),
        delayMs: (10_000 * n) / SLOW_A_NODE,
      })),
    )
    const honest = Array.from({ length: HONEST }, (_, n): SlowUpload => {
      const url = nodes[n % nodes.length]?.dataUrl ?? ''
      const pace = { firstBytes: 0, pieceBytes: 16_000, everyMs: 1000 / PIECES_A_SECOND, delayMs: 10 * n }
      return { url, path: path(1_000_000 + n), headers, length: HONEST_BYTES, ...pace }
    })
    // A client that was refused or has finished starts again.
    const again = (upload: SlowUpload, n: number): SlowUpload => ({ ...upload, path: path(2_000_000 + n) })
    const [ofSlow, ofHonest] = await Promise.all([
      runSlowUploads(slow, signal, again),
      runSlowUploads(honest, signal, again),
    ])
    return { ...prefixed('slow', ofSlow), ...prefixed('honest', ofHonest) }
  },
}

function prefixed(who: string, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${who} ${name}`, count]))
}
