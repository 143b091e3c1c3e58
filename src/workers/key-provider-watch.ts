/**
 * Watches whether this node would get its master key at its next start, while it needs neither the key file nor the provider for anything.
 *
 * Owns: the figures and what is logged. Knows nothing of: providers.
 * Rule: a provider that fails never stops or slows what the node serves.
 */
import { counter, gauge, type Logger, type MetricSample } from '../../cluster/index.ts'
import {
  CHECK_RESULTS,
  type Checked,
  type CheckResult,
  type ProviderCheck,
} from '../access/provider-check.ts'
import type { Repeating } from './repeating.ts'

export interface WatchParts {
  readonly check: Pick<ProviderCheck, 'check' | 'close'>
  readonly everyMs: number
  readonly logger: Logger
}

export class KeyProviderWatch {
  readonly #parts: WatchParts
  readonly #counts = new Map<CheckResult, number>(CHECK_RESULTS.map((result) => [result, 0]))
  /** Null before the first. */
  #last: Checked | null = null

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  /** A check that is under way ends with `signal`. */
  worker(signal: AbortSignal): Repeating {
    const { everyMs, logger } = this.#parts
    return { name: 'key provider', work: () => this.round(signal), everyMs, logger }
  }

  async round(signal: AbortSignal): Promise<false> {
    const checked = await this.#parts.check.check(signal)
    if (signal.aborted) return false
    const before = this.#last?.result ?? 'ok'
    const { result, reason, olderLines } = checked
    this.#last = checked
    this.#counts.set(result, (this.#counts.get(result) ?? 0) + 1)
    const { logger } = this.#parts
    if (result !== 'ok') logger.error({ result, reason }, 'the next start would not get its master key')
    else if (before !== 'ok') logger.info({}, 'the provider of the master key opens the keys again')
    if (olderLines !== null && olderLines > 0)
      logger.debug({ olderLines }, 'master keys are wrapped under an older version of the provider')
    return false
  }

  samples(): readonly MetricSample[] {
    if (this.#last === null) return []
    const { result, olderLines } = this.#last
    const up =
      'Whether the key file and the provider of the master key gave this node its key at the last check (1) or not (0).'
    const older =
      "Lines of the key file that are wrapped under an older version of the provider's key; -1: unknown."
    const checks = 'Checks of the key file and the provider of the master key, by result.'
    return [
      gauge('holdfast_key_provider_up', up, result === 'ok' ? 1 : 0),
      gauge('holdfast_key_provider_older_lines', older, olderLines ?? -1),
      ...[...this.#counts].map(([label, value]) =>
        counter('holdfast_key_provider_checks_total', checks, value, { result: label }),
      ),
    ]
  }

  close(): Promise<void> {
    return this.#parts.check.close()
  }
}
