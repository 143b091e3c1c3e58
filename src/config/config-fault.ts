/**
 * What is wrong with a configuration: where it stands, what was found and expected, what to do.
 *
 * Owns: the shape, and the one error that tells all faults of a file together.
 * Rule: nothing that a fault quotes may be a secret; it is masked here, where every fault is made.
 */
import { StartError } from '../../cluster/index.ts'
import { maskSecrets } from './mask-secrets.ts'

export interface ConfigFault {
  /** Null: of the file as a whole. */
  readonly setting: string | null
  /** `n1.yaml:7`, `n1.yaml` or `environment variable HOLDFAST_NODE__ID`. */
  readonly where: string
  readonly message: string
  /** What to do, one sentence. */
  readonly hint: string
}

/** Thrown by checks of several settings, and caught where faults are gathered. */
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

/** One error for all of them: whoever mends a file wants to know everything at once. */
export function invalidConfig(file: string, faults: readonly [ConfigFault, ...ConfigFault[]]): StartError {
  const [first] = faults
  if (faults.length === 1) return new StartError('invalid_config', sentenceOf(first), { hint: first.hint })
  const list = faults.map((fault) => `\n  ${sentenceOf(fault)}\n    ${fault.hint}`)
  const message = `The configuration '${file}' has ${faults.length} faults:${list.join('')}`
  return new StartError('invalid_config', message, {
    hint: `Mend them all; 'holdfast config check --config ${file}' says what is left.`,
  })
}
