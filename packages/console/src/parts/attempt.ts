/**
 * Something that a dialog or a button asks the API for: whether it is under way, and why it failed.
 */
import { useState } from 'preact/hooks'
import { type Fault, faultOf } from '../state/resource.ts'

/** `notice`: sees each error, as it can end the session. */
export function useAttempt(notice: (error: unknown) => void) {
  const [fault, setFault] = useState<Fault | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true)
    setFault(null)
    try {
      await work()
    } catch (error) {
      notice(error)
      setFault(faultOf(error))
    }
    setBusy(false)
  }
  return { fault, isBusy, attempt }
}
