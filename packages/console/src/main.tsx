/**
 * The console: shows the log-in or the frame with one screen, as the session and the address say.
 */
import { render } from 'preact'
import { App } from './screens/app.tsx'
import { resume } from './state/session.ts'

const root = document.getElementById('console')
if (root !== null) render(<App />, root)
void resume()
