/**
 * The threads of a running node by its inspector, the main thread and every worker: CPU profiles, and what an expression gives there.
 *
 * Owns: the connection. Knows nothing of: stages. Rule: only nodes that this program started are inspected.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CpuProfile, type HeapProfile, ofAllocations } from './cpu-profile.ts'

const SAMPLE_MICROS = 1000
const SAMPLE_BYTES = 16_384
const ANSWER_MS_MAX = 60_000
const ERROR_CHARACTERS_MAX = 1000

/** NODE_OPTIONS of nodes that are inspected: each chooses a free port and writes it into its log. */
export const INSPECTED = '--inspect=127.0.0.1:0'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

/** What is sampled: the time that threads work, or the bytes that they allocate, collected ones included. */
export type Sampled = 'time' | 'allocations'

export interface ThreadProfile {
  /** `main`, or the name of the worker. */
  readonly thread: string
  readonly profile: CpuProfile
}

export interface ThreadText {
  readonly thread: string
  readonly text: string
}

/** The address that `--inspect` writes into the log of a node. */
export function inspectorUrl(logFile: string): string {
  const url = /Debugger listening on (ws:\/\/\S+)/.exec(readFileSync(logFile, 'utf8'))?.[1]
  if (url === undefined) throw new Error(`There is no address of an inspector in ${logFile}`)
  return url
}

/** The nodes of a cluster that was started with INSPECTED, in the order of their names. */
export async function inspectedNodes({
  folder,
  pids,
}: {
  readonly folder: string | null
  readonly pids: readonly number[]
}): Promise<readonly InspectedNode[]> {
  const logs = pids.map((_, node) => join(folder ?? '', 'data', `n${node + 1}.log`))
  return Promise.all(logs.map((file) => InspectedNode.open(inspectorUrl(file))))
}

interface Thread {
  readonly thread: string
  readonly send: Send
}

type Send = (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>

export class InspectedNode {
  readonly #socket: WebSocket
  readonly #waiting = new Map<
    number,
    { resolve: (message: Message) => void; reject: (error: Error) => void }
  >()
  /** Names of workers by their sessions. */
  readonly #workers = new Map<string, string>()
  /** Threads whose profile was started; a worker that attached later has none. */
  #sampled: readonly Thread[] = []
  #lastId = 0

  static async open(url: string): Promise<InspectedNode> {
    const socket = new WebSocket(url)
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true })
      socket.addEventListener('error', () => reject(new Error(`Cannot reach the inspector at ${url}`)), {
        once: true,
      })
    })
    const node = new InspectedNode(socket)
    await node.#send('NodeWorker.enable', { waitForDebuggerOnStart: false })
    return node
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Message))
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error('The inspector closed its connection'))
    })
  }

  /** The text that an expression gives on each thread that runs now. Throws what it throws there. */
  async evaluate(expression: string): Promise<readonly ThreadText[]> {
    const texts: ThreadText[] = []
    for (const { thread, send } of this.#threads()) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', { expression })
      if (exceptionDetails !== undefined)
        throw new Error(`${thread}: ${JSON.stringify(exceptionDetails).slice(0, ERROR_CHARACTERS_MAX)}`)
      const value: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'value') : ''
      texts.push({ thread, text: String(value) })
    }
    return texts
  }

  async start(sampled: Sampled = 'time'): Promise<void> {
    this.#sampled = this.#threads()
    for (const { send } of this.#sampled) {
      if (sampled === 'time') {
        await send('Profiler.enable')
        await send('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS })
        await send('Profiler.start')
      } else {
        await send('HeapProfiler.enable')
        await send('HeapProfiler.startSampling', {
          samplingInterval: SAMPLE_BYTES,
          includeObjectsCollectedByMajorGC: true,
          includeObjectsCollectedByMinorGC: true,
        })
      }
    }
  }

  /** Microseconds as samples; of allocations, bytes in their place. */
  async stop(sampled: Sampled = 'time'): Promise<readonly ThreadProfile[]> {
    const profiles: ThreadProfile[] = []
    for (const { thread, send } of this.#sampled) {
      if (sampled === 'time') {
        const { profile } = await send('Profiler.stop')
        profiles.push({ thread, profile: profile as CpuProfile })
      } else {
        const { profile } = await send('HeapProfiler.stopSampling')
        profiles.push({ thread, profile: ofAllocations(profile as HeapProfile) })
      }
    }
    return profiles
  }

  close(): void {
    this.#socket.close()
  }

  #threads(): readonly Thread[] {
    const main = { thread: 'main', send: (method: string, params?: object) => this.#send(method, params) }
    const workers = [...this.#workers].map(([session, thread]) => ({
      thread,
      send: (method: string, params?: object) => this.#sendTo(session, method, params),
    }))
    return [main, ...workers]
  }

  async #send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId
    const answer = this.#answerTo(id, method)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return (await answer).result ?? {}
  }

  async #sendTo(
    sessionId: string,
    method: string,
    params: object = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId
    const answer = this.#answerTo(id, method)
    await this.#send('NodeWorker.sendMessageToWorker', {
      sessionId,
      message: JSON.stringify({ id, method, params }),
    })
    return (await answer).result ?? {}
  }

  #answerTo(id: number, method: string): Promise<Message> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`The inspector did not answer to ${method}`)),
        ANSWER_MS_MAX,
      )
      this.#waiting.set(id, {
        resolve: (message) => {
          clearTimeout(timer)
          if (message.error === undefined) resolve(message)
          else reject(new Error(`${method}: ${message.error.message}`))
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      })
    })
  }

  #receive(message: Message): void {
    if (message.method === 'NodeWorker.attachedToWorker') this.#attached(message.params ?? {})
    if (message.method === 'NodeWorker.detachedFromWorker')
      this.#workers.delete(String(message.params?.['sessionId']))
    if (message.method === 'NodeWorker.receivedMessageFromWorker')
      return this.#receive(JSON.parse(String(message.params?.['message'])) as Message)
    if (message.id === undefined) return
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    waiting?.resolve(message)
  }

  #attached({ sessionId, workerInfo }: Readonly<Record<string, unknown>>): void {
    const title =
      typeof workerInfo === 'object' && workerInfo !== null ? Reflect.get(workerInfo, 'title') : ''
    // "[worker 1] wal": the name that the program gave.
    this.#workers.set(String(sessionId), String(title).replace(/^\[worker \d+\] /, ''))
  }
}
