import './app/first.ts';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './ui/tokens.css';
import './ui/base.css';
import './ui/ui.css';
import './app/frame.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { styleNonce } from './app/first.ts';
import { chooseClient } from './bridge/choose.ts';

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App client={chooseClient()} nonce={styleNonce()} />);
