/**
 * `holdfast cluster time`: shows the cluster time, confirms the withheld part, sets it back.
 *
 * Rule: a correction applies to the values that the command read just before, and only with `--confirm`.
 */
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface TimeOptions extends AdminAccessOptions, ChangeOptions {}

export interface CorrectTimeOptions extends TimeOptions {
  readonly reason: string
  readonly confirm?: boolean
}

export function showTime(options: TimeOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getClusterTime')
    if (options.json) printJson(answer)
    else {
      const { offsets, ...facts } = answer
      printFacts(facts)
      printTable(offsets.map(({ nodeId, offsetMs }) => [nodeId, `${offsetMs} ms`]))
    }
    return EXIT.done
  })
}

export function confirmTime(options: CorrectTimeOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer: shown } = await client.call('getClusterTime')
    const body = { withheldMs: shown.withheldMs, reason: options.reason }
    const { answer } = await client.call('confirmClusterTime', { body, query: rehearsed(options) })
    return reportChange<object>(answer, options, () =>
      note(`${shown.withheldMs} ms of withheld time are confirmed`),
    )
  })
}

export function setTimeBack(options: CorrectTimeOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer: shown } = await client.call('getClusterTime')
    // Without a majority time the cluster refuses the request and states the reason.
    const majorityTime = shown.majorityTime ?? new Date(0).toISOString()
    const body = { majorityTime, reason: options.reason }
    const { answer } = await client.call('setBackClusterTime', { body, query: rehearsed(options) })
    return reportChange<object>(answer, options, () =>
      note(`The cluster time is set back to ${majorityTime}`),
    )
  })
}

/** Without `--confirm` the request is a dry run. */
function rehearsed(options: CorrectTimeOptions): { dryRun?: boolean } {
  return options.confirm === true ? rehearsal(options) : { dryRun: true }
}
