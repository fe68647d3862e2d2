//! Which proxy the HTTP client uses, so that an error can name it.

use std::net::IpAddr;

use reqwest::Url;

use super::environment::Variables;

/// A proxy that an environment variable names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub variable: &'static str,
    /// Its address, without a name or password.
    pub address: String,
}

impl Proxy {
    /// Returns the proxy for requests to this endpoint. The rules are those of the HTTP client.
    pub(super) fn of(endpoint: &str, variables: Variables<'_>) -> Option<Self> {
        let url = Url::parse(endpoint).ok()?;
        let first = |names: [&'static str; 2]| {
            let value = |name| Some((name, variables(name)?.into_string().ok()?));
            names.into_iter().find_map(value)
        };
        let host = url.host_str()?;
        if first(["NO_PROXY", "no_proxy"]).is_some_and(|(_, list)| is_exempt(host, &list)) {
            return None;
        }
        let names = match url.scheme() {
            "https" => ["HTTPS_PROXY", "https_proxy"],
            _ => ["HTTP_PROXY", "http_proxy"],
        };
        let named = first(names).or_else(|| first(["ALL_PROXY", "all_proxy"]));
        let (variable, value) = named.filter(|(_, value)| !value.is_empty())?;
        let address = value.split_once("://").map_or(&*value, |(_, rest)| rest);
        let address = address.rsplit('@').next().unwrap_or_default();
        Some(Self {
            variable,
            address: address.trim_end_matches('/').to_owned(),
        })
    }
}

/// Returns whether a list of hosts, domains and networks covers this host.
fn is_exempt(host: &str, list: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let mut entries = list
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    match host.parse::<IpAddr>() {
        Ok(address) => entries.any(|entry| contains(entry, address)),
        Err(_) => entries.any(|entry| {
            let domain = entry.trim_start_matches('.');
            let before = host.strip_suffix(domain);
            entry == "*" || before.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        }),
    }
}

/// Returns whether an address, or a network such as 192.168.1.0/24, contains an address.
fn contains(network: &str, address: IpAddr) -> bool {
    let (start, n_bits) = network
        .split_once('/')
        .map_or((network, None), |(start, bits)| {
            (start, bits.parse::<u32>().ok())
        });
    match (start.parse(), address) {
        (Ok(start), _) if start == address => true,
        (Ok(IpAddr::V4(start)), IpAddr::V4(address)) => n_bits.is_some_and(|n_bits| {
            let differing = start.to_bits() ^ address.to_bits();
            n_bits <= 32 && differing.leading_zeros() >= n_bits
        }),
        (Ok(IpAddr::V6(start)), IpAddr::V6(address)) => n_bits.is_some_and(|n_bits| {
            let differing = start.to_bits() ^ address.to_bits();
            n_bits <= 128 && differing.leading_zeros() >= n_bits
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Proxy;

    #[test]
    fn a_proxy_is_found_as_the_client_finds_it() {
        let hub = "https://huggingface.co";
        let dead = ("HTTPS_PROXY", "http://me:secret@127.0.0.1:9/");
        for (endpoint, set, expected) in [
            (hub, &[][..], None),
            (hub, &[dead], Some("127.0.0.1:9 HTTPS_PROXY")),
            (
                hub,
                &[("https_proxy", "dead:9")],
                Some("dead:9 https_proxy"),
            ),
            (
                hub,
                &[("ALL_PROXY", "socks5://dead")],
                Some("dead ALL_PROXY"),
            ),
            (hub, &[("HTTP_PROXY", "dead:9")], None),
            (
                "http://hub",
                &[("HTTP_PROXY", "dead:9")],
                Some("dead:9 HTTP_PROXY"),
            ),
            (hub, &[("HTTPS_PROXY", "")], None),
            (hub, &[dead, ("NO_PROXY", "*")], None),
            (hub, &[dead, ("NO_PROXY", "a.b, .huggingface.co")], None),
            (hub, &[dead, ("no_proxy", "huggingface.co")], None),
            (
                hub,
                &[dead, ("NO_PROXY", "face.co")],
                Some("127.0.0.1:9 HTTPS_PROXY"),
            ),
            (
                "https://10.1.2.3",
                &[dead, ("NO_PROXY", "10.0.0.0/8")],
                None,
            ),
            (
                "https://[fd00::1]:8",
                &[dead, ("NO_PROXY", "fd00::/8")],
                None,
            ),
            (
                "https://11.1.2.3",
                &[dead, ("NO_PROXY", "10.0.0.0/8,*")],
                Some("127.0.0.1:9 HTTPS_PROXY"),
            ),
        ] {
            let variables = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).into())
            };
            let found = Proxy::of(endpoint, &variables);
            let found = found.map(|it| format!("{} {}", it.address, it.variable));
            assert_eq!(found.as_deref(), expected, "{endpoint} {set:?}");
        }
    }
}
