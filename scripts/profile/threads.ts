/**
 * Processor time of each thread of a process, from the kernel. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { UsageError } from '../local/options.ts'

/** Microseconds by the kind of thread. */
export type ThreadTimes = ReadonlyMap<string, number>

/** Names that the kernel shows, and how they are called here. A worker keeps its own name. */
const KINDS: Readonly<Record<string, string>> = {
  MainThread: 'main',
  node: 'main',
  V8Worker: 'V8 helpers (collection, compilation)',
  'libuv-worker': 'libuv pool (files, LevelDB, digests)',
  SignalInspector: 'inspector',
  InspectorIo: 'inspector',
  'v8:ProfEvntProc': 'the profiler itself',
  DelayedTaskSche: 'V8 helpers (collection, compilation)',
}

/** By thread id, so that threads that ended do not count backwards. */
type Sample = ReadonlyMap<string, { readonly kind: string; readonly micros: number }>

export function sampleThreads(pid: number): Sample {
  const folder = `/proc/${pid}/task`
  const threads = new Map<string, { readonly kind: string; readonly micros: number }>()
  for (const id of readdirSync(folder)) {
    try {
      const name = readFileSync(`${folder}/${id}/comm`, 'utf8').trim()
      // Nanoseconds on a processor, by user and kernel together. [Documentation/scheduler/sched-stats.rst]
      const [nanos] = readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ')
      threads.set(id, { kind: KINDS[name] ?? name, micros: Number(nanos) / 1000 })
    } catch (cause) {
      if (id === String(pid))
        throw new UsageError(`Cannot read the threads of ${pid}: a kernel with schedstat is needed`, {
          cause,
        })
      // The thread has ended.
    }
  }
  return threads
}

export function grownSince(before: Sample, pid: number): ThreadTimes {
  const grown = new Map<string, number>()
  for (const [id, { kind, micros }] of sampleThreads(pid)) {
    const since = micros - (before.get(id)?.micros ?? 0)
    if (since > 0) grown.set(kind, (grown.get(kind) ?? 0) + since)
  }
  return grown
}
