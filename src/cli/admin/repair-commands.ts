/**
 * `holdfast cluster repair`: the rate and state of repair, and garbage collection, which a finding of a recount can halt.
 */
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface RepairOptions extends AdminAccessOptions, ChangeOptions {}

export interface ResumeCollectionOptions extends RepairOptions {
  readonly reason: string
}

export function getRepair(options: RepairOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getRepair')
    if (options.json) printJson(answer)
    else {
      const { nodes, ...facts } = answer
      printFacts(facts)
      note('')
      printTable(
        nodes.map(({ nodeId, reachable, pending, disk, scrub }) => [
          nodeId,
          reachable ? 'reachable' : 'NOT REACHABLE',
          `${pending ?? '?'} to repair`,
          scrub === null ? '' : `scrub ${Math.floor(scrub.progress * 100)}%`,
          disk === null
            ? ''
            : `disk ${disk.level}, ${sizeText(disk.freeBytes)} free${disk.isSuspect ? ', SUSPECT' : ''}`,
        ]),
      )
    }
    return EXIT.done
  })
}

/** `none`: no limit. */
export function setRepair(requested: number | 'none', options: RepairOptions): Promise<number> {
  const maxBytesPerSecond = requested === 'none' ? null : requested
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('setRepair', {
      body: { maxBytesPerSecond },
      query: rehearsal(options),
    })
    const rate = maxBytesPerSecond === null ? 'without a limit' : `at ${sizeText(maxBytesPerSecond)} a second`
    return reportChange<object>(answer, options, () => note(`Repair runs ${rate} on every node`))
  })
}

export function resumeCollection(options: ResumeCollectionOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const call = { body: { reason: options.reason }, query: rehearsal(options) }
    const { answer } = await client.call('resumeCollection', call)
    return reportChange<object>(answer, options, () => note('Garbage collection continues'))
  })
}
