/**
 * `holdfast tenant encryption`: the version of a tenant's data key, and its exchange.
 */
import { askAdmin } from '../base/asking.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, sizeText } from '../base/printing.ts'
import { timeText } from '../base/progress.ts'
import { reportStarted, type StartOptions } from './operation-commands.ts'
import { rehearsal } from './outcome.ts'
import type { ReadOptions } from './tenant-commands.ts'

export interface KeyExchangeOptions extends StartOptions {
  readonly maxRate?: number
}

export function showEncryption(id: string, options: ReadOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getTenantEncryption', { params: { id } })
    if (options.json) {
      printJson(answer)
      return EXIT.done
    }
    const { exchange, ...facts } = answer
    printFacts({ ...facts })
    if (exchange === null) {
      note('No exchange is unfinished: this key seals everything.')
      return EXIT.done
    }
    const { formerVersion, chunksLeft, bytesLeft, inlineBytesLeft, operation } = exchange
    note(
      `${chunksLeft} chunks with ${sizeText(bytesLeft)} and ${sizeText(inlineBytesLeft)} of small bodies are left under version ${formerVersion}`,
    )
    if (operation !== null) {
      const { operationId, status, phase, etaSeconds } = operation
      const left = etaSeconds === null ? '' : `, about ${timeText(etaSeconds)} left`
      note(`operation ${operationId} is ${status}: ${phase}${left}`)
    }
    return EXIT.done
  })
}

export function rotateEncryption(id: string, options: KeyExchangeOptions): Promise<number> {
  const { reason, maxRate } = options
  const body = { reason, ...(maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }) }
  return askAdmin(options, async (client) => {
    const call = { params: { id }, body, query: rehearsal(options) }
    return reportStarted(client, (await client.call('exchangeDataKey', call)).answer, options)
  })
}
