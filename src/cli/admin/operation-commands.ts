/**
 * `holdfast cluster operations`, and the commands that start one: rebalance, scrub, recount.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { AdminClient } from '../../client/clients.ts'
import type { Operation } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { orInterrupted } from '../base/interruption.ts'
import { note, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import { type Progress, progressOn, timeText } from '../base/progress.ts'
import { LongOperationNews } from './operation-news.ts'
import { type ChangeOptions, isDryRun, rehearsal, reportChange } from './outcome.ts'

export interface OperationOptions extends AdminAccessOptions, ChangeOptions {
  /** Wait until the operation has ended. */
  readonly wait?: boolean
  readonly progress?: boolean
}

export interface StartOptions extends OperationOptions {
  readonly reason: string
}

export interface RebalanceOptions extends StartOptions {
  readonly bucket?: string
  readonly maxRate?: number
}

export interface ScrubOptions extends StartOptions {
  readonly node?: string
}

export function listOperations(options: OperationOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    for await (const { operations } of pagesOf((from) => client.call('listOperations', { query: from })))
      if (options.json) for (const operation of operations) printJson(operation)
      else
        printTable(
          operations.map(({ operationId, type, status, createdAt, phase }) => [
            operationId,
            type,
            status,
            createdAt,
            phase,
          ]),
        )
    return EXIT.done
  })
}

export function getOperation(id: string, options: OperationOptions): Promise<number> {
  return askAdmin(options, async (client) =>
    shown((await client.call('getOperation', { params: { id } })).answer, options),
  )
}

export function watchOperation(id: string, options: OperationOptions): Promise<number> {
  return askAdmin(options, (client) => watched(client, id, options))
}

const STEERED = { cancel: 'cancelOperation', pause: 'pauseOperation', resume: 'resumeOperation' } as const

export function steerOperation(
  how: keyof typeof STEERED,
  id: string,
  options: OperationOptions,
): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call(STEERED[how], { params: { id }, query: rehearsal(options) })
    return reportStarted(client, answer, options)
  })
}

export function rebalance(tenantId: string, options: RebalanceOptions): Promise<number> {
  const { reason, bucket, maxRate } = options
  const limits = {
    ...(bucket === undefined ? {} : { bucket }),
    ...(maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }),
  }
  return askAdmin(options, async (client) => {
    const call = { body: { tenantId, reason, ...limits }, query: rehearsal(options) }
    return reportStarted(client, (await client.call('rebalance', call)).answer, options)
  })
}

export function scrub(options: ScrubOptions): Promise<number> {
  const { reason, node } = options
  const body = { reason, ...(node === undefined ? {} : { node }) }
  return askAdmin(options, async (client) =>
    reportStarted(client, (await client.call('scrub', { body, query: rehearsal(options) })).answer, options),
  )
}

export function recount(options: StartOptions): Promise<number> {
  const { reason } = options
  return askAdmin(options, async (client) =>
    reportStarted(
      client,
      (await client.call('recount', { body: { reason }, query: rehearsal(options) })).answer,
      options,
    ),
  )
}

type Started = Operation | Parameters<typeof reportChange>[0]

/** For every command that starts an operation: prints the answer, or with --wait follows the operation to its end. */
export function reportStarted(
  client: AdminClient,
  answer: Started,
  options: OperationOptions,
): Promise<number> | number {
  if (answer === undefined || isDryRun(answer) || !('operationId' in answer))
    return reportChange<object>(answer, options, () => {})
  const operation = answer as Operation
  return options.wait ? watched(client, operation.operationId, options) : shown(operation, options)
}

const ENDED: readonly string[] = ['succeeded', 'failed', 'cancelled']
const POLL_MS = 500

/** Resolves when the operation has ended. Waits through a pause: a paused operation can be resumed. */
async function watched(client: AdminClient, id: string, options: OperationOptions): Promise<number> {
  const isDrawn = (options.progress ?? true) && process.stderr.isTTY === true
  const progress = progressOn(process.stderr, id, isDrawn)
  const news = new LongOperationNews(isDrawn ? () => {} : note)
  try {
    const hint = `The operation continues; follow it with holdfast cluster operations watch ${id}`
    return await orInterrupted(hint, async (signal) => {
      for (let bytesDrawn = 0; ; ) {
        const { answer } = await client.call('getOperation', { params: { id }, signal })
        bytesDrawn = drawn(progress, answer, bytesDrawn)
        news.look(answer)
        if (ENDED.includes(answer.status)) {
          progress.end()
          return shown(answer, options)
        }
        await wait(POLL_MS, undefined, { signal })
      }
    })
  } finally {
    progress.end()
  }
}

/** Returns the bytes moved so far. */
function drawn(
  progress: Progress,
  { type, phase, etaSeconds, progress: { bytesTotal, bytesMoved } }: Operation,
  bytesDrawn: number,
): number {
  const left = etaSeconds === null ? '' : `, about ${timeText(etaSeconds)} left`
  progress.call(`${type}: ${phase}${left}`)
  // An operation without bytes, such as a change of votes, gets no bar.
  progress.expect(bytesTotal === 0 ? null : bytesTotal)
  progress.advance(bytesMoved - bytesDrawn)
  return bytesMoved
}

/** What the progress of an operation counts, where it is not copies. */
const COUNTED: Readonly<Partial<Record<Operation['type'], string>>> = {
  tenantDeletion: 'versions and uploads',
  keyExchange: 'chunks',
  backupRestore: 'steps with versions',
}

function shown(operation: Operation, { json = false }: OperationOptions): number {
  if (json) printJson(operation)
  else {
    const { progress, nodes, ...facts } = operation
    printFacts(facts)
    const { blobsDone, blobsTotal, bytesMoved, bytesTotal } = progress
    const counted = COUNTED[facts.type] ?? 'copies'
    note(`${blobsDone} of ${blobsTotal} ${counted}, ${sizeText(bytesMoved)} of ${sizeText(bytesTotal)}`)
    for (const { nodeId, isDone, progress: share } of nodes)
      note(`  ${nodeId}  ${isDone ? 'done' : `${Math.floor(share * 100)}%`}`)
  }
  return operation.status === 'failed' || operation.status === 'cancelled' ? EXIT.failed : EXIT.done
}
