/**
 * Works on several items at once, and on never more than that.
 *
 * Rules: the next item is asked for when there is room for it; after a failure none is asked for any more, those under way are
 * waited for, and the first failure is thrown. An item that never comes holds up no failure.
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
  // Not waited for: it may be waiting itself, for an item that never comes.
  void iterator.return?.().catch(() => {})
  throw failures[0]
}
