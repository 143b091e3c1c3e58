/**
 * Something that a dialog or a button asks the API for: whether it is under way, and why it failed.
 */
import { useState } from 'preact/hooks'
import { type Fault, faultOf } from '../state/resource.ts'
import type { Access } from './access.ts'

/** Without a log-in to the API an attempt does nothing. */
export function useAttempt<C>(access: Access<C>) {
  const [fault, setFault] = useState<Fault | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (work: (api: C) => Promise<unknown>): Promise<void> => {
    const api = access.api()
    if (api === null) return
    setBusy(true)
    setFault(null)
    try {
      await work(api)
    } catch (error) {
      access.notice(error)
      setFault(faultOf(error))
    }
    setBusy(false)
  }
  return { fault, isBusy, attempt }
}
