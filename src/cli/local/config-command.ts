/**
 * `holdfast config check` and `print`: the configuration as a node reads it, without a node.
 *
 * Owns: how faults and values are printed. Rule: `check` refuses what a start refuses, with the same error; `print` examines only the
 * file and the environment.
 */
import { type ConfigFault, invalidConfig } from '../../config/config-fault.ts'
import { effectiveSettings, effectiveText } from '../../config/effective-settings.ts'
import { type Environment, type Examined, examineConfig } from '../../config/load-config.ts'
import type { StartError } from '../../../cluster/index.ts'
import { EXIT, reportError } from '../base/exit.ts'

interface ConfigOptions {
  readonly config: string
  readonly json?: boolean
}

export interface CheckOptions extends ConfigOptions {
  /** As `holdfast server --join`. */
  readonly join?: boolean
  /** Nothing that the settings name is looked at. */
  readonly settingsOnly?: boolean
}

interface CodedFault extends ConfigFault {
  readonly code: string
}

/** Why a start is refused: each error as the start reports it, and the faults behind them with their places. */
export interface Refusals {
  readonly errors: readonly StartError[]
  readonly faults: readonly CodedFault[]
  /** Null with a fault of a setting. */
  readonly config: Examined['config']
}

export async function examineStart(options: CheckOptions, environment: Environment): Promise<Refusals> {
  const { config: file, join = false, settingsOnly = false } = options
  const { config, faults, written } = examineConfig(file, environment)
  const [fault, ...others] = faults
  if (fault !== undefined) {
    const coded = faults.map((each) => ({ code: 'invalid_config', ...each }))
    return { errors: [invalidConfig(file, [fault, ...others])], faults: coded, config: null }
  }
  if (config === null || settingsOnly) return { errors: [], faults: [], config }
  const { startRefusals } = await import('../../service/start-refusals.ts')
  const refusals = await startRefusals(config, join)
  return {
    errors: refusals.map(({ error }) => error),
    faults: refusals.map(({ setting, error: { code, message, hint } }) => {
      const where = setting === null ? file : (written.get(setting)?.origin.where ?? file)
      return { code, setting, where, message, hint }
    }),
    config,
  }
}

export async function checkConfig(options: CheckOptions): Promise<number> {
  const { config: file, json = false } = options
  const { errors, faults, config } = await examineStart(options, process.env)
  const ok = errors.length === 0
  if (json) process.stdout.write(`${JSON.stringify({ ok, file, faults })}\n`)
  else {
    for (const error of errors) await reportError(error, false)
    if (config !== null && ok)
      process.stdout.write(`'${file}' is a valid configuration of node ${config.node.id}.\n`)
  }
  return ok ? EXIT.done : EXIT.usage
}

export async function printConfig({ config: file, json = false }: ConfigOptions): Promise<number> {
  const examined = examineConfig(file, process.env)
  const [fault, ...others] = examined.faults
  if (fault !== undefined) {
    if (json) process.stdout.write(`${JSON.stringify({ ok: false, file, faults: examined.faults })}\n`)
    else await reportError(invalidConfig(file, [fault, ...others]), false)
    return EXIT.usage
  }
  const settings = effectiveSettings(examined)
  process.stdout.write(json ? `${JSON.stringify({ file, settings })}\n` : effectiveText(settings))
  return EXIT.done
}
