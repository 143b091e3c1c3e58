/**
 * A run inside a test: it succeeds, keeps every claim, and attaches its report.
 *
 * Owns: the requirements on every run, for any faults.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type ChaosReport, reportText } from './chaos-report.ts'
import type { ChaosOptions } from './options.ts'
import { startRun } from './start-run.ts'

/** Null: it ended before it could judge, and `t` has failed. */
export async function keptReport(
  t: Test,
  options: Omit<ChaosOptions, 'jsonFile' | 'logDir'>,
): Promise<ChaosReport | null> {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const jsonFile = join(dir, 'report.json')
  const run = startRun({ ...options, jsonFile, logDir: null }, 'pipe')
  t.teardown(() => run.stop())
  let reported = ''
  run.output?.on('data', (piece) => (reported += String(piece)))
  const code = await run.ended
  t.equal(code, 0, reported)
  if (code !== 0 && !reported.includes('kept:')) return null
  const report = JSON.parse(readFileSync(jsonFile, 'utf8')) as ChaosReport
  for (const { claim, faults } of report.verdicts) t.same(faults, [], claim)
  t.comment(reportText(report))
  return report
}
