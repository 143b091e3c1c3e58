/**
 * `npm run interruptions`: every operation on members of real nodes, killed into at each of its steps.
 *
 * Owns: the choice of cells, the table. Rule: the exit code is 0 only when every cell has ended in one of its two allowed ways.
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../../../scripts/local/options.ts'
import { CASES, cells, isWanted, titleOf } from './cells.ts'
import { type CellReport, runCell } from './run-cell.ts'

const USAGE = `npm run interruptions -- [--only OPERATION,STEP,VICTIM,FATE]... [--minutes N] [--list] [--json FILE]

  --only CELLS   some of them; each part may be left out: --only join,promote,leader  --only ,,both,is-gone
                 OPERATION: ${CASES.map(({ name }) => name).join(', ')}
                 VICTIM: leader, target, both   FATE: comes-back, is-gone
  --minutes N    begin no cell after so long, 1 to 1440 (default 120)
  --list         only say which cells there are
  --json FILE    the same report as JSON
`

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string', multiple: true, default: [''] },
        minutes: { type: 'string', default: '120' },
        json: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function main(): Promise<number> {
  const { only, minutes, json, list, help } = parse(process.argv.slice(2))
  const endsAt = performance.now() + 60_000 * wholeNumber(minutes, '--minutes', { min: 1, max: 1440 })
  const chosen = cells().filter((cell) => only.some((wanted) => isWanted(cell, wanted)))
  if (chosen.length === 0) throw new UsageError(`no cell is called ${only.join(' or ')}; --list names them`)
  if (help || list) {
    process.stdout.write(help ? USAGE : `${chosen.map(titleOf).join('\n')}\n`)
    return 0
  }
  const reports: CellReport[] = []
  for (const cell of chosen) {
    if (performance.now() > endsAt) break
    const report = await runCell(cell)
    reports.push(report)
    process.stdout.write(`${lineOf(report)}\n`)
  }
  const wrong = reports.filter(({ faults }) => faults.length > 0).length
  const manualSteps = reports.filter((report) => report.manualSteps.length > 0).length
  const skipped = chosen.length - reports.length
  process.stdout.write(
    `${reports.length} cells, ${wrong} wrong, ${manualSteps} ended by an operator, ${skipped} not started\n`,
  )
  if (json !== undefined)
    writeFileSync(resolve(json), `${JSON.stringify({ wrong, manualSteps, skipped, reports }, null, 2)}\n`)
  return wrong > 0 ? 1 : 0
}

function lineOf({ cell, status, seconds, manualSteps, faults }: CellReport): string {
  const hand = manualSteps.length > 0 ? `  manually: ${manualSteps.join(', ')}` : ''
  const fault = faults.map((text) => `\n    ${text}`).join('')
  return `${faults.length > 0 ? 'WRONG' : 'ok   '} ${cell.padEnd(40)} ${status.padEnd(10)} ${seconds} s${hand}${fault}`
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`error: ${error.message}\n${USAGE}`)
  process.exitCode = 2
}
