/**
 * What an operator sees of narrower credentials: how many temporary ones are made, and which were refused where.
 *
 * Owns: the counts and their metrics. Knows nothing of: why. Rules: labels come from closed lists; no key, tenant or address is one. A request whose
 * first attempt is forgotten counts once, so a refusal of a caller counts when it is answered.
 */
import type { MetricSample } from '../../cluster/index.ts'
import { Attached } from '../base/attached.ts'
import { Refusal } from '../base/refusal.ts'
import type { BindingRefusal } from './caller-binding.ts'

const MADE = ['made', 'refused'] as const
/** What ends a temporary credential. */
const ENDS = ['token_expired', 'token_invalid', 'key_revoked', 'tenant_disabled'] as const
const CREDENTIALS = { accessKey: 'access_key', adminToken: 'admin_token' } as const
const GATES = ['address', 'certificate'] as const

export class AccessCounts {
  readonly #temporary = new Map<string, number>()
  readonly #ends = new Map<string, number>()
  readonly #bindings = new Map<string, number>()
  readonly #atAnswer = new Attached<Refusal, () => void>()

  /** Runs what makes a temporary credential, and counts how that ended. */
  making<T>(make: () => T): T {
    try {
      const made = make()
      count(this.#temporary, 'made')
      return made
    } catch (error) {
      if (error instanceof Refusal) count(this.#temporary, 'refused')
      throw error
    }
  }

  /** Runs what proves a temporary credential; those that have ended are counted when they are answered. */
  using<T>(prove: () => T): T {
    try {
      return prove()
    } catch (error) {
      if (error instanceof Refusal) this.#atAnswer.set(error, () => count(this.#ends, error.code))
      throw error
    }
  }

  /** Counted when it is answered. */
  refusedBinding(refusal: BindingRefusal): void {
    const { principal, gate } = refusal
    this.#atAnswer.set(refusal, () => count(this.#bindings, nameOf(CREDENTIALS[principal.kind], gate)))
  }

  /** Counts what this refusal stands for, if anything. */
  answered(refusal: Refusal): void {
    this.#atAnswer.get(refusal)?.()
  }

  samples(): readonly MetricSample[] {
    return [
      ...MADE.map((result) => ({
        name: 'holdfast_access_temporary_credentials_total',
        kind: 'counter' as const,
        help: 'Requests for a temporary credential, by whether one was made.',
        labels: { result },
        value: this.#temporary.get(result) ?? 0,
      })),
      ...ENDS.map((code) => ({
        name: 'holdfast_access_ended_credentials_total',
        kind: 'counter' as const,
        help: 'Requests with a temporary credential that had ended, by what ended it.',
        labels: { code },
        value: this.#ends.get(code) ?? 0,
      })),
      ...Object.values(CREDENTIALS).flatMap((credential) =>
        GATES.map((gate) => ({
          name: 'holdfast_access_binding_refused_total',
          kind: 'counter' as const,
          help: 'Requests with a right credential from where it may not be used, by what it is bound to.',
          labels: { credential, gate },
          value: this.#bindings.get(nameOf(credential, gate)) ?? 0,
        })),
      ),
    ]
  }
}

function nameOf(credential: string, gate: string): string {
  return `${credential} ${gate}`
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
