/**
 * When keys and tokens were last proved at this node, kept in memory until it is committed.
 *
 * Owns: what is worth a commit. Knows nothing of: when that happens (src/workers/last-used-recorder.ts).
 * Rule: a request never waits for it and never writes because of it; what does not fit is not remembered.
 */
import type { AccessKeyId } from '../state-machine/base/record-ids.ts'
import type { AccessKeyRecord, AdminTokenRecord } from '../state-machine/tenants/records.ts'

/** What is committed may be this much behind: a key that is always in use costs one small write in that time. */
export const USE_PRECISION_MS = 3_600_000
const REMEMBERED_MAX = 100_000

export interface Uses {
  readonly accessKeys: readonly { readonly accessKeyId: AccessKeyId; readonly at: number }[]
  readonly adminTokens: readonly { readonly tokenId: string; readonly at: number }[]
}

export class LastUsed {
  readonly #keys = new Map<string, number>()
  readonly #tokens = new Map<string, number>()

  noteKey({ accessKeyId, lastUsedAt }: AccessKeyRecord, at: number): void {
    if (isDue(lastUsedAt, at)) remember(this.#keys, accessKeyId, at)
  }

  noteToken({ tokenId, lastUsedAt }: AdminTokenRecord, at: number): void {
    if (isDue(lastUsedAt, at)) remember(this.#tokens, tokenId, at)
  }

  /** Up to `limit` of them, the longest remembered first; they stay until they are forgotten. */
  oldest(limit: number): Uses {
    const adminTokens = first(this.#tokens, limit).map(([tokenId, at]) => ({ tokenId, at }))
    const accessKeys = first(this.#keys, limit - adminTokens.length)
    return { adminTokens, accessKeys: accessKeys.map(([accessKeyId, at]) => ({ accessKeyId, at })) }
  }

  /** These are committed. What was used again meanwhile is committed when it is due again. */
  forget({ accessKeys, adminTokens }: Uses): void {
    for (const { accessKeyId } of accessKeys) this.#keys.delete(accessKeyId)
    for (const { tokenId } of adminTokens) this.#tokens.delete(tokenId)
  }
}

function isDue(lastUsedAt: number | null, at: number): boolean {
  return lastUsedAt === null || at - lastUsedAt >= USE_PRECISION_MS
}

function remember(uses: Map<string, number>, id: string, at: number): void {
  if (uses.has(id) || uses.size < REMEMBERED_MAX) uses.set(id, at)
}

function first(uses: ReadonlyMap<string, number>, limit: number): [string, number][] {
  return [...uses].slice(0, limit)
}
