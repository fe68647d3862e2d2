//! Refuses requests that a web page could have made a browser send: through a name that resolves to
//! this computer, or from a page of another site.

use hyper::http::request::Parts;
use hyper::http::uri::{Authority, Uri};

use crate::interop::api::ApiError;

/// The names of this computer.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// Checks that a request was sent to this address by a program of this computer, or by a page that it
/// serves.
pub(super) fn check(head: &Parts, port: u16) -> Result<(), ApiError> {
    let refused = |message: String| Err(ApiError::refused(403, message));
    let one = |name: &str| {
        let mut values = head.headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_not_ascii| ()),
            (Some(_), Some(_)) => Err(()),
        }
    };
    let is_here = |authority: &Authority| is_own(authority, port);
    let in_target = head.uri.authority().is_none_or(is_here);
    let in_header = match one("host") {
        Ok(Some(host)) => host.parse().is_ok_and(|host| is_here(&host)),
        Ok(None) | Err(()) => false,
    };
    if !in_target || !in_header {
        return refused(format!(
            "The Host header must name this computer and its port, as in 127.0.0.1:{port}"
        ));
    }
    match one("origin") {
        Ok(None) => Ok(()),
        Ok(Some(origin)) if is_loopback_origin(origin) => Ok(()),
        _ => refused("Pages of other sites can’t use this endpoint".to_owned()),
    }
}

fn is_own(authority: &Authority, port: u16) -> bool {
    const HTTP_PORT: u16 = 80;
    let has_port = authority.port_u16().unwrap_or(HTTP_PORT) == port;
    let has_user = authority.as_str().contains('@');
    has_port && !has_user && is_loopback(authority.host())
}

fn is_loopback_origin(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else {
        return false;
    };
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    let host = uri.authority().filter(|it| !it.as_str().contains('@'));
    is_web && host.is_some_and(|host| is_loopback(host.host()))
}

fn is_loopback(host: &str) -> bool {
    LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::check;

    fn is_allowed(target: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        check(&head, 8080).is_ok()
    }

    #[test]
    fn only_the_names_of_this_computer_with_the_port_are_hosts() {
        for (host, expected) in [
            ("127.0.0.1:8080", true),
            ("localhost:8080", true),
            ("LocalHost:8080", true),
            ("[::1]:8080", true),
            ("127.0.0.1", false),
            ("127.0.0.1:8081", false),
            ("127.0.0.1:8080:8080", false),
            ("127.0.0.2:8080", false),
            ("localhost.example:8080", false),
            ("example:8080", false),
            ("127.0.0.1:8080@example", false),
            ("example@127.0.0.1:8080", false),
            ("", false),
            ("127.0.0.1:8080/x", false),
            ("0x7f000001:8080", false),
        ] {
            assert_eq!(is_allowed("/health", &[("host", host)]), expected, "{host}");
        }
        assert!(!is_allowed("/health", &[]));
        let host = ("host", "127.0.0.1:8080");
        assert!(!is_allowed("/health", &[host, ("host", "example")]));
        assert!(!is_allowed("/health", &[host, host]));
        assert!(is_allowed("http://127.0.0.1:8080/health", &[host]));
        assert!(!is_allowed("http://example/health", &[host]));
    }

    #[test]
    fn only_pages_of_this_computer_are_origins() {
        let host = ("host", "127.0.0.1:8080");
        for (origin, expected) in [
            ("http://127.0.0.1:8080", true),
            ("http://localhost:3000", true),
            ("https://localhost", true),
            ("null", false),
            ("", false),
            ("file://", false),
            ("http://example", false),
            ("http://localhost.example", false),
            ("http://localhost@example", false),
            ("chrome-extension://localhost", false),
        ] {
            let headers = [host, ("origin", origin)];
            assert_eq!(is_allowed("/health", &headers), expected, "{origin}");
        }
        let both = [host, ("origin", "http://localhost"), ("origin", "null")];
        assert!(!is_allowed("/health", &both));
    }
}
