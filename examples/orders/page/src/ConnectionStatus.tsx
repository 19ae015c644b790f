import { useSyncExternalStore } from 'react';
import { connection } from './connection.ts';

export function ConnectionStatus() {
  const { isLive, isComplete } = useSyncExternalStore(connection.subscribe, connection.get);
  return (
    <p role="status" className={isLive ? 'live' : 'lost'}>
      {isLive ? 'Live' : 'Connecting …'}
      {isComplete === true && <small>resumed, nothing missed</small>}
      {isComplete === false && <small>updates may have been missed; orders were read again</small>}
    </p>
  );
}
