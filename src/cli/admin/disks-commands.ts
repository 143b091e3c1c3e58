/**
 * `holdfast cluster disks`: the disks of a member with several, and to empty one of them.
 */
import type { AdminClient } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { printable, printJson, printLine, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface DisksOptions extends AdminAccessOptions {
  readonly json?: boolean
}

export interface DrainOptions extends AdminAccessOptions, ChangeOptions {
  readonly cancel?: boolean
  readonly reason: string
}

type Disks = AdminOperations['listMemberDisks']['answer']
type Disk = Disks['disks'][number]
type Drained = Exclude<AdminOperations['drainDisk']['answer'], { dryRun: boolean }>

export function listDisks(nodeId: string, options: DisksOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('listMemberDisks', { params: { nodeId } })
    if (options.json) printJson(answer)
    else print(answer)
    return EXIT.done
  })
}

/** `disk`: its id or its directory. */
export function drainDisk(nodeId: string, disk: string, options: DrainOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const params = { nodeId, diskId: await idOf(client, nodeId, disk) }
    const call = { params, query: rehearsal(options), body: { reason: options.reason } }
    const asked = options.cancel === true ? 'cancelDiskDrain' : 'drainDisk'
    const { answer } = await client.call(asked, call)
    return reportChange<Drained>(answer, options, printDrained)
  })
}

async function idOf(client: AdminClient, nodeId: string, disk: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(disk)) return disk
  const { disks } = (await client.call('listMemberDisks', { params: { nodeId } })).answer
  const named = disks.find(({ directory }) => directory === disk)
  if (named !== undefined) return named.diskId
  throw new CommandError(`${nodeId} has no disk at '${disk}'`, {
    code: 'not_found',
    hint: `holdfast cluster disks list ${nodeId} shows the disks that it has.`,
    exitCode: EXIT.usage,
  })
}

function printDrained({ directory, status, copies, bytes }: Drained): void {
  const what =
    status === 'serving'
      ? 'takes new copies again'
      : `is emptied: ${copies} copies of ${sizeText(bytes)} move to the other disks of its node`
  printLine(`${printable(directory)} ${what}`)
}

function print({ nodeId, disks }: Disks): void {
  if (disks.length === 0) return printLine(`${nodeId} has one disk, in its data directory`)
  printTable([['DIRECTORY', 'DISK', 'STATUS', 'FREE', 'LEFT', 'WHAT TO DO'], ...disks.map(cells)])
}

function cells({
  directory,
  diskId,
  status,
  doubt,
  totalBytes,
  freeBytes,
  left,
  suggestion,
}: Disk): string[] {
  return [
    printable(directory),
    diskId,
    doubt === null ? status : `${status}, ${doubt.replace('_', ' ')}`,
    `${sizeText(freeBytes)} of ${sizeText(totalBytes)}`,
    left === null ? '-' : `${left.copies}${left.isComplete ? '' : '+'} of ${sizeText(left.bytes)}`,
    suggestion ?? '-',
  ]
}
