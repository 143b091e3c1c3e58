/**
 * Works on several items at once, up to a limit.
 *
 * Rules: the next item is requested when fewer than `limit` are in progress. After a failure no further item is requested, the items in
 * progress are awaited, and the first failure is thrown. An item that never arrives does not delay a failure. Nothing is kept of an item that has
 * ended: a race against a promise that stays open would keep every one.
 */
export async function forEachBounded<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const failures: unknown[] = []
  const arrived: IteratorResult<T, unknown>[] = []
  let running = 0
  let wake: () => void = () => {}
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue())
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  const settled = (ending: Promise<unknown>, onEnd: () => void): void => {
    ending.catch((cause: unknown) => void failures.push(cause)).finally(() => (onEnd(), wake()))
  }
  const hasFailed = (): boolean => failures.length > 0
  while (!hasFailed()) {
    settled(
      iterator.next().then((next) => arrived.push(next)),
      () => {},
    )
    await until(() => arrived.length > 0 || hasFailed())
    const next = arrived.pop()
    if (next === undefined || next.done === true || hasFailed()) break
    running += 1
    settled(work(next.value), () => (running -= 1))
    await until(() => running < limit)
  }
  await until(() => running === 0)
  if (!hasFailed()) return
  // Not awaited: the iterator may itself be waiting for an item that never arrives.
  void iterator.return?.().catch(() => {})
  throw failures[0]
}
