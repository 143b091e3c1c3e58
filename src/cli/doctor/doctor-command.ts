/**
 * `holdfast doctor`: the problems of a node and what to do about them. [decisions 15]
 *
 * Owns: how findings are printed, and the exit code. Rule: an error ends with 1. Warnings end with 0, so that a script can run the
 * doctor before a start.
 */
import { examine } from './examine.ts'
import type { Finding } from '../../doctor/finding.ts'
import { EXIT } from '../base/exit.ts'

export interface DoctorOptions {
  readonly config: string
  readonly json?: boolean
}

export async function runDoctor({ config, json = false }: DoctorOptions): Promise<number> {
  const examination = await examine(config, process.env)
  const { findings, notChecked, status } = examination
  if (json) process.stdout.write(`${JSON.stringify(examination)}\n`)
  else process.stdout.write(`${findings.map(textOf).join('')}${summary(findings, notChecked)}`)
  return status === 'error' ? EXIT.failed : EXIT.done
}

function textOf({ check, severity, found, expected, action }: Finding): string {
  const line = `${severity.padEnd(7)}  ${check}: ${found}\n`
  return expected === null ? line : `${line}         expected: ${expected}\n         do: ${action}\n`
}

function summary(findings: readonly Finding[], notChecked: readonly string[]): string {
  const count = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length
  const left = notChecked.length === 0 ? '' : `not checked: ${notChecked.join(', ')}\n`
  return `${left}${count('error')} errors, ${count('warning')} warnings, ${count('ok')} ok\n`
}
