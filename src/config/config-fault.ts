/**
 * A fault of a configuration: its place, what was found and expected, what to do.
 *
 * Owns: the shape, and the one error that reports all faults of a file together.
 * Rule: a fault quotes no secret; texts are masked here, where every fault is made.
 */
import { StartError } from '../../cluster/index.ts'
import { maskSecrets } from './mask-secrets.ts'

export interface ConfigFault {
  /** Null: the fault concerns the file as a whole. */
  readonly setting: string | null
  /** `n1.yaml:7`, `n1.yaml` or `environment variable HOLDFAST_NODE__ID`. */
  readonly where: string
  readonly message: string
  /** What to do, one sentence. */
  readonly hint: string
}

/** Thrown by checks of several settings, and caught where faults are collected. */
export class FaultError extends Error {
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.name = 'FaultError'
    this.hint = hint
  }
}

export function configFault(fault: ConfigFault): ConfigFault {
  return { ...fault, message: maskSecrets(fault.message), hint: maskSecrets(fault.hint) }
}

export const sentenceOf = ({ where, message }: ConfigFault): string => `${where}: ${message}`

/** One error for all faults, so that a user can correct the file in one pass. */
export function invalidConfig(file: string, faults: readonly [ConfigFault, ...ConfigFault[]]): StartError {
  const [first] = faults
  if (faults.length === 1) return new StartError('invalid_config', sentenceOf(first), { hint: first.hint })
  const list = faults.map((fault) => `\n  ${sentenceOf(fault)}\n    ${fault.hint}`)
  const message = `The configuration '${file}' has ${faults.length} faults:${list.join('')}`
  return new StartError('invalid_config', message, {
    hint: `Correct all of them; 'holdfast config check --config ${file}' reports what is left.`,
  })
}
