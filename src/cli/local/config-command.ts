/**
 * `holdfast config check` and `print`: the configuration as a node reads it, without a node.
 *
 * Owns: how faults and values are printed. Rule: only the file and the environment are examined; `holdfast doctor` examines
 * the keys, folders and addresses that they name.
 */
import { sentenceOf } from '../../config/config-fault.ts'
import { effectiveSettings, effectiveText } from '../../config/effective-settings.ts'
import { type Examined, examineConfig } from '../../config/load-config.ts'
import { isNewcomer, startRefusals } from '../../config/start-refusals.ts'
import { EXIT } from '../base/exit.ts'

interface ConfigOptions {
  readonly config: string
  readonly json?: boolean
}

export function checkConfig({ config: file, json = false }: ConfigOptions): number {
  const examined = examineConfig(file, process.env)
  if (examined.config === null) return printFaults(file, examined, json)
  const { config } = examined
  const faults = startRefusals(config, file)
  if (faults.length > 0) return printFaults(file, { faults }, json)
  if (json) process.stdout.write(`${JSON.stringify({ ok: true, file, faults: [] })}\n`)
  else {
    const { id } = config.node
    const joins = isNewcomer(config) ? ` It is not among cluster.members: start it with --join.` : ''
    process.stdout.write(`'${file}' is a valid configuration of node ${id}.${joins}\n`)
  }
  return EXIT.done
}

export function printConfig({ config: file, json = false }: ConfigOptions): number {
  const examined = examineConfig(file, process.env)
  if (examined.config === null) return printFaults(file, examined, json)
  const settings = effectiveSettings(examined)
  process.stdout.write(json ? `${JSON.stringify({ file, settings })}\n` : effectiveText(settings))
  return EXIT.done
}

/** As JSON on standard output, or as text on standard error. */
function printFaults(file: string, { faults }: Pick<Examined, 'faults'>, json: boolean): number {
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok: false, file, faults })}\n`)
    return EXIT.usage
  }
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  const lines = faults.map((fault) => `  ${sentenceOf(fault)}\n    ${fault.hint}\n`)
  process.stderr.write(`error: the configuration '${file}' has ${count}:\n${lines.join('')}`)
  return EXIT.usage
}
