/**
 * The last step of every upload: what was ingested is proposed, and the upload session is notified of how it ended.
 *
 * Owns: the order, and what is known of the outcome. Knows nothing of: what the command does with the body.
 * Rule: the end is reported in every case, and once; what is unknown here stays unknown to the collection of garbage, or
 * it would remove copies that a commit may still come to name.
 */
import { Condition } from '../../../cluster/index.ts'
import type { IngestedBody } from '../../content/content.ts'
import type { UploadOutcome } from '../../content/uploads.ts'

/** What a command says of the bytes it stores. */
export type StoredBody = Pick<IngestedBody, 'size' | 'etag' | 'checksums' | 'body'>

/** `propose` is called once at most. Throws what it throws, and the reason of `signal` when the client has gone. */
export async function commitBody<R>(
  { size, etag, checksums, body, end }: IngestedBody,
  propose: (stored: StoredBody) => Promise<R>,
  signal: AbortSignal,
): Promise<R> {
  return endUpload(end, () => {
    // The client may have gone while the last copies were written: no client would receive the answer, so nothing is committed.
    signal.throwIfAborted()
    return propose({ size, etag, checksums, body })
  })
}

/** `propose` throws synchronously what keeps it from proposing anything. Throws what it throws. */
export async function endUpload<R>(
  end: (outcome: UploadOutcome) => void,
  propose: () => Promise<R>,
): Promise<R> {
  let outcome: UploadOutcome = 'known'
  try {
    const proposed = propose()
    outcome = 'unknown'
    const reply = await proposed
    outcome = 'known'
    return reply
  } catch (error) {
    if (error instanceof Condition && error.code !== 'commit_unknown') outcome = 'known'
    throw error
  } finally {
    end(outcome)
  }
}
