/**
 * Asks the key file and the provider of the master key what the next start of this node would ask them.
 *
 * Owns: the question and the provider between two of them. Knows nothing of: when it is asked, what is done about the answer.
 * Rule: what it opens is compared and dropped; the keys that the node works with never change by it.
 */
import { StartError } from '../../cluster/index.ts'
import { type KeyProvider, ProviderError, type ProviderFault } from './key-providers/key-provider.ts'
import { openProvider } from './key-providers/open-provider.ts'
import { type KeySettings, openLines, readKeyLines } from './provided-keys.ts'

const CHECK_MS_MAX = 60_000

/** `file`: the key file or a file of the provider cannot be used. `mismatch`: it opens to other keys. */
export type CheckResult = 'ok' | 'file' | 'mismatch' | ProviderFault
export const CHECK_RESULTS = [
  'ok',
  'file',
  'mismatch',
  'unreachable',
  'denied',
  'refused',
  'malformed',
] as const satisfies readonly CheckResult[]

export interface Checked {
  readonly result: CheckResult
  /** Why it is not `ok`; without secrets. */
  readonly reason: string | null
  /** Lines that are wrapped under an older version of the provider's key; null: unknown. */
  readonly olderLines: number | null
}

export class ProviderCheck {
  readonly #settings: KeySettings
  readonly #inUse: () => string
  #provider: KeyProvider | null = null

  /** `inUse`: fingerprint of the key that this node seals with. */
  constructor(settings: KeySettings, inUse: () => string) {
    this.#settings = settings
    this.#inUse = inUse
  }

  /** Never rejects. */
  async check(signal: AbortSignal): Promise<Checked> {
    try {
      return await this.#check(AbortSignal.any([AbortSignal.timeout(CHECK_MS_MAX), signal]))
    } catch (cause) {
      return { result: resultOf(cause), reason: reasonOf(cause), olderLines: null }
    }
  }

  async close(): Promise<void> {
    await this.#provider?.close()
    this.#provider = null
  }

  async #check(signal: AbortSignal): Promise<Checked> {
    const lines = await readKeyLines(this.#settings)
    this.#provider ??= await openProvider(this.#settings.keyProvider)
    const provider = this.#provider
    await provider?.renew(signal)
    const opened = provider === null ? lines : await openLines(lines, provider, signal)
    if (!opened.some(({ fingerprint }) => fingerprint === this.#inUse()))
      return {
        result: 'mismatch',
        reason: 'The key file no longer holds the master key that this node seals with',
        olderLines: null,
      }
    const newest = (await provider?.newestVersion(signal)) ?? null
    const older = lines.filter((line) => line.form === 'wrapped' && line.wrapped.version !== newest)
    return { result: 'ok', reason: null, olderLines: newest === null ? null : older.length }
  }
}

function resultOf(cause: unknown): CheckResult {
  if (cause instanceof ProviderError) return cause.fault
  return cause instanceof StartError && cause.code === 'master_key_mismatch' ? 'mismatch' : 'file'
}

function reasonOf(cause: unknown): string {
  return cause instanceof ProviderError || cause instanceof StartError
    ? cause.message
    : 'A file could not be read'
}
