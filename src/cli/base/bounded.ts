/**
 * Works on several items at once, up to a limit.
 *
 * Rules: the next item is requested when fewer than `limit` are in progress. After a failure no further item is requested, the items in
 * progress are awaited, and the first failure is thrown. An item that never arrives does not delay a failure.
 */
export async function forEachBounded<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  let wake: () => void = () => {}
  const failed = new Promise<'failed'>((resolve) => {
    wake = () => resolve('failed')
  })
  const fail = (cause: unknown): void => {
    failures.push(cause)
    wake()
  }
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), failed])
      if (next === 'failed' || next.done === true) break
      const task: Promise<void> = work(next.value)
        .catch(fail)
        .finally(() => running.delete(task))
      running.add(task)
      if (running.size >= limit) await Promise.race(running)
    }
  } catch (cause) {
    fail(cause)
  }
  await Promise.all(running)
  if (failures.length === 0) return
  // Not awaited: the iterator may itself be waiting for an item that never arrives.
  void iterator.return?.().catch(() => {})
  throw failures[0]
}
